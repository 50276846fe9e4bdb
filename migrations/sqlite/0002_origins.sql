CREATE TABLE `origins` (
	`id` text PRIMARY KEY NOT NULL,
	`target` text NOT NULL,
	`provider` text NOT NULL,
	`key_alias` text,
	`is_kept` integer NOT NULL,
	`made_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `origins_made` ON `origins` (`made_at`);