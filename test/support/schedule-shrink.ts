/** From a failing schedule to a small one that fails in the same way. */
import { type RequestPlan, type Schedule, targetId, tierAt } from './schedule-model.ts';

/** Tries at most `runsMax` smaller schedules; `fails` says whether one still fails in the same way. */
export async function shrinkSchedule(
  schedule: Schedule,
  fails: (candidate: Schedule) => Promise<boolean>,
  runsMax = 400,
): Promise<Schedule> {
  let runs = 0;
  let best = schedule;
  const keep = async (candidate: Schedule): Promise<boolean> => {
    if (runs >= runsMax || !isSound(candidate)) return false;
    runs += 1;
    if (!(await fails(candidate))) return false;
    best = candidate;
    return true;
  };
  for (let before: Schedule | null = null; before !== best && runs < runsMax; ) {
    before = best;
    await dropItems('requests', () => best, keep);
    await dropItems('phases', () => best, keep);
    await dropItems('poisons', () => best, keep);
    await dropItems('drains', () => best, keep);
    await dropVersions(() => best, keep);
    await dropTargets(() => best, keep);
    await plainRequests(() => best, keep);
  }
  return best;
}

/** Every pin is a target of its tier: others never reach the engine. */
function isSound(schedule: Schedule): boolean {
  return schedule.requests.every(
    ({ pin, tier, atMs }) =>
      pin === null ||
      tierAt(schedule, tier, atMs)?.targets.some((target) => targetId(target) === pin) === true,
  );
}

type Keep = (candidate: Schedule) => Promise<boolean>;

/** Halves, then quarters, down to single items. */
async function dropItems(
  name: 'requests' | 'phases' | 'poisons' | 'drains',
  best: () => Schedule,
  keep: Keep,
): Promise<void> {
  for (let size = Math.ceil(best()[name].length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < best()[name].length; ) {
      const items = best()[name];
      const rest = [...items.slice(0, from), ...items.slice(from + size)];
      if (!(await keep({ ...best(), [name]: rest }))) from += size;
    }
  }
}

async function dropVersions(best: () => Schedule, keep: Keep): Promise<void> {
  for (let index = best().versions.length - 1; index > 0; index -= 1) {
    await keep({ ...best(), versions: best().versions.filter((_, other) => other !== index) });
  }
}

async function dropTargets(best: () => Schedule, keep: Keep): Promise<void> {
  const count = Math.max(
    ...best().versions.flatMap(({ tiers }) => tiers.map(({ targets }) => targets.length)),
  );
  for (let index = count - 1; index >= 0; index -= 1) {
    const versions = best().versions.map((version) => ({
      ...version,
      tiers: version.tiers.map((tier) =>
        tier.targets.length <= 1
          ? tier
          : { ...tier, targets: tier.targets.filter((_, other) => other !== index) },
      ),
    }));
    await keep({ ...best(), versions });
  }
}

const plain: Partial<RequestPlan> = {
  leavesAfterMs: null,
  pin: null,
  isFailoverOff: false,
  maxRetries: null,
  session: null,
  isToolTurn: false,
  mayWrite: false,
  asks: 'text',
  readPauseMs: 0,
};

async function plainRequests(best: () => Schedule, keep: Keep): Promise<void> {
  for (const [name, value] of Object.entries(plain)) {
    const requests = best().requests.map((request) => ({ ...request, [name]: value }));
    if (JSON.stringify(requests) !== JSON.stringify(best().requests)) {
      await keep({ ...best(), requests });
    }
  }
}
