/** `auth` of kinds whose services take a key in a header of their own or as a bearer token. */
import { z } from 'zod';
import type { ProviderKind } from './provider-kind.ts';

const bearer = 'bearer';

/** The field, and what follows from it; `header` (lower case) is also its other value, and the default. */
export function authChoice(header: string): Required<
  Pick<ProviderKind, 'authHeader' | 'authValue' | 'authOf'>
> & {
  readonly field: z.ZodType<string>;
} {
  const own = { authHeader: header, authValue: (secret: string) => secret };
  const asBearer = {
    authHeader: 'authorization',
    authValue: (secret: string) => `Bearer ${secret}`,
  };
  return {
    ...own,
    authOf: ({ auth }) => (auth === bearer ? asBearer : own),
    field: z
      .enum([header, bearer], { error: `must be one of ${header}, ${bearer}` })
      .default(header),
  };
}
