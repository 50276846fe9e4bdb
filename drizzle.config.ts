/** `npm run db:generate` writes the SQL of a changed schema into `migrations/sqlite`. */
import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'sqlite',
  schema: './src/store/sqlite/schema.ts',
  out: './migrations/sqlite',
});
