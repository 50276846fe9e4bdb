/** The kinds of values that the document is made of. Nothing is converted: what was written stays readable. */
import { type ZodRawShape, z } from 'zod';
import { nearest } from '../../base/nearest.ts';
import { secretReferencePattern } from '../../providers/secrets.ts';
import { durationMs, durationPattern, sizeBytes, sizePattern } from '../duration.ts';
import { safeName, suggestion } from './config-fault.ts';

const timerMsMax = 2 ** 31 - 1;
const durationMsMax = 3650 * 86_400_000;

export const namePattern = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Separates the messages of one issue about several keys. */
export const keyMessageSeparator = '\n';

/** An object whose unknown keys are faults that name the nearest known one. */
export function strict<Shape extends ZodRawShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code === 'unrecognized_keys') {
        return issue.keys
          .map((key) => `unknown key ${safeName(key)}${suggestion(nearest(key, known))}`)
          .join(keyMessageSeparator);
      }
      return issue.code === 'invalid_type' ? 'must be a mapping' : undefined;
    },
  });
}

function durationOf(range: { readonly leastMs: number; readonly mostMs: number }): z.ZodString {
  return z
    .string({ error: 'must be a duration with a unit, such as 250ms, 30s or 5m' })
    .regex(durationPattern, 'must be a duration with a unit, such as 250ms, 30s or 5m')
    .refine((text) => (durationMs(text) ?? range.leastMs) >= range.leastMs, {
      error: 'must be above 0, which would end everything at once',
    })
    .refine((text) => (durationMs(text) ?? 0) <= range.mostMs, {
      error: range.mostMs === timerMsMax ? 'must be at most 24d' : 'must be at most 3650d',
    });
}

/** 0 is 0. At most ten years: for what is only compared. */
export const duration = durationOf({ leastMs: 0, mostMs: durationMsMax });
/** 0 is 0. Runs as a timer, so it stays below 2^31 ms. */
export const timer = durationOf({ leastMs: 0, mostMs: timerMsMax });
/** A timer for which 0 would end everything at once. */
export const positiveTimer = durationOf({ leastMs: 1, mostMs: timerMsMax });

function sizeOf(most: string): z.ZodString {
  const bytesMax = sizeBytes(most) ?? 0;
  return z
    .string({ error: 'must be a size with a unit, such as 32kb or 10mb' })
    .regex(sizePattern, 'must be a size with a unit, such as 32kb or 10mb')
    .refine((written) => (sizeBytes(written) ?? 0) <= bytesMax, {
      error: `must be at most ${most}`,
    });
}

export const size = sizeOf('1024tb');
/** What is held in memory at once. */
export const bufferSize = sizeOf('1gb');

export function integer(least: number, most: number, note = ''): z.ZodNumber {
  const error = `must be a whole number from ${least} to ${most}${note}`;
  return z.int({ error }).min(least, error).max(most, error);
}

export function decimal(least: number, most: number): z.ZodNumber {
  const error = `must be a number from ${least} to ${most}`;
  return z.number({ error }).min(least, error).max(most, error);
}

export function choice<const Options extends readonly string[]>(
  options: Options,
): z.ZodEnum<z.core.util.ToEnum<Options[number]>> {
  return z.enum(options, {
    error: (issue) => {
      const meant = typeof issue.input === 'string' ? nearest(issue.input, options) : null;
      return `must be one of ${options.join(', ')}${suggestion(meant)}`;
    },
  });
}

export const flag = z.boolean({ error: 'must be true or false' });

export function text(lengthMax: number): z.ZodString {
  const error = `must be text of at most ${lengthMax} characters`;
  return z.string({ error }).max(lengthMax, error);
}

/** The name of a tier or provider. */
export const name = z
  .string({ error: 'must be a name' })
  .regex(
    namePattern,
    'must be a name of a-z, 0-9, dot, dash and underscore, at most 64 characters',
  );

/** Where a secret is, never the secret. */
export const secretReference = z
  .string({ error: 'must name a secret: env:NAME or file:/path' })
  .regex(secretReferencePattern, 'must name a secret: env:NAME or file:/path');
