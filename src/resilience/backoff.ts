/** How long to wait before asking the same target again (R01, R02, R03, R05). */

export type Jitter = 'full' | 'decorrelated' | 'equal' | 'proportional' | 'none';

export type BackoffPolicy = {
  readonly jitter: Jitter;
  readonly baseMs: number;
  readonly multiplier: number;
  readonly capMs: number;
};
