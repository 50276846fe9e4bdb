CREATE TABLE `attempts` (
	`request_seq` integer NOT NULL,
	`n` integer NOT NULL,
	`kind` text NOT NULL,
	`target` text NOT NULL,
	`provider` text NOT NULL,
	`model` text NOT NULL,
	`variant` text,
	`key_alias` text,
	`started_at` integer NOT NULL,
	`delay_before_ms` integer DEFAULT 0 NOT NULL,
	`delay_reason` text,
	`status` integer,
	`error_class` text,
	`message` text,
	`retry_after_ms` integer,
	`ttfb_ms` integer,
	`ttft_ms` integer,
	`duration_ms` integer DEFAULT 0 NOT NULL,
	`upstream_request_id` text,
	`input_tokens` integer,
	`output_tokens` integer,
	`cached_tokens` integer,
	`reasoning_tokens` integer,
	`cost_usd` real,
	`outcome` text NOT NULL,
	`breaker_before` text DEFAULT 'closed' NOT NULL,
	`breaker_after` text DEFAULT 'closed' NOT NULL,
	PRIMARY KEY(`request_seq`, `n`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `config_versions` (
	`version` integer PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`document` text NOT NULL,
	`prompts` text NOT NULL,
	`author` text NOT NULL,
	`note` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `markers` (
	`id` text PRIMARY KEY NOT NULL,
	`instance` text NOT NULL,
	`client_request_id` text,
	`started_at` integer NOT NULL,
	`tier` text NOT NULL,
	`key_id` text
);
--> statement-breakpoint
CREATE TABLE `meta` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `prompt_versions` (
	`hash` text PRIMARY KEY NOT NULL,
	`source` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `request_keys` (
	`key` text NOT NULL,
	`request_seq` integer NOT NULL,
	PRIMARY KEY(`key`, `request_seq`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `requests` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`client_request_id` text,
	`started_at` integer NOT NULL,
	`tier` text NOT NULL,
	`config_version` integer,
	`client_protocol` text,
	`requested_model` text,
	`stream` integer DEFAULT false NOT NULL,
	`target` text,
	`provider` text,
	`model` text,
	`reported_model` text,
	`variant` text,
	`outcome` text NOT NULL,
	`error_class` text,
	`status` integer,
	`attempt_count` integer DEFAULT 0 NOT NULL,
	`retry_count` integer DEFAULT 0 NOT NULL,
	`failover_count` integer DEFAULT 0 NOT NULL,
	`hedged` integer DEFAULT false NOT NULL,
	`skipped` text,
	`recovery` text DEFAULT 'none' NOT NULL,
	`seams` text,
	`malformed_events` integer DEFAULT 0 NOT NULL,
	`deadline_ms` integer,
	`backoff_ms` integer DEFAULT 0 NOT NULL,
	`ttft_ms` integer,
	`latency_ms` integer,
	`upstream_ms` integer,
	`input_tokens` integer,
	`output_tokens` integer,
	`cached_tokens` integer,
	`reasoning_tokens` integer,
	`cost_usd` real,
	`total_cost_usd` real,
	`price_date` text,
	`finish_reason` text,
	`client_retry_count` integer DEFAULT 0 NOT NULL,
	`dropped` text,
	`failed_over` integer DEFAULT false NOT NULL,
	`output_valid` integer,
	`eval_run` text,
	`run_id` text,
	`session` text,
	`tags` text,
	`key_id` text,
	`guardrail` text,
	`repaired` integer DEFAULT false NOT NULL,
	`escalated_from` text,
	`idempotent_replay` integer DEFAULT false NOT NULL,
	`body_hash` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `requests_id` ON `requests` (`id`);--> statement-breakpoint
CREATE INDEX `requests_started` ON `requests` (`started_at`,`outcome`,`tier`,`provider`,`target`,`model`,`variant`,`config_version`,`error_class`,`recovery`,`failed_over`,`key_id`);--> statement-breakpoint
CREATE INDEX `requests_error_class` ON `requests` (`error_class`,`started_at`) WHERE error_class is not null;--> statement-breakpoint
CREATE INDEX `requests_not_served` ON `requests` (`outcome`,`started_at`) WHERE outcome <> 'served';--> statement-breakpoint
CREATE INDEX `requests_recovery` ON `requests` (`recovery`,`started_at`) WHERE recovery <> 'none';--> statement-breakpoint
CREATE INDEX `requests_failed_over` ON `requests` (`failed_over`,`started_at`) WHERE failed_over = 1;--> statement-breakpoint
CREATE INDEX `requests_eval_run` ON `requests` (`eval_run`,`started_at`) WHERE eval_run is not null;--> statement-breakpoint
CREATE INDEX `requests_run` ON `requests` (`run_id`,`started_at`) WHERE run_id is not null;--> statement-breakpoint
CREATE INDEX `requests_session` ON `requests` (`session`,`started_at`) WHERE session is not null;--> statement-breakpoint
CREATE INDEX `requests_key` ON `requests` (`key_id`,`started_at`) WHERE key_id is not null;--> statement-breakpoint
CREATE TABLE `served_slots` (
	`slot_at` integer NOT NULL,
	`tier` text NOT NULL,
	`provider` text NOT NULL,
	`target` text NOT NULL,
	`model` text NOT NULL,
	`variant` text NOT NULL,
	`config_version` integer NOT NULL,
	PRIMARY KEY(`slot_at`, `tier`, `provider`, `target`, `model`, `variant`, `config_version`)
) WITHOUT ROWID;
