/** How the work of something grows with its size, in time that the processor spent on it. */

/** What `size` takes, ready to be done again and again. */
export type SizedWork = (size: number) => () => void;

const rounds = 4;
/** The larger size is so many times the smaller. */
const factor = 8;
/** Between what is due (1) and a square (8), when the smaller is done eight times as often. */
const growthMax = 3.5;
/** The clock is no finer on every machine. */
const grainMs = 20;

/** Null: eight times as much takes about eight times the work. */
export function growthFault(work: SizedWork, size: number): string | null {
  const small = work(size);
  const large = work(factor * size);
  const often = (): void => {
    for (let time = 0; time < factor; time += 1) small();
  };
  often();
  large();
  let [ofSmall, ofLarge] = [0, 0];
  for (let round = 0; round < rounds; round += 1) {
    ofSmall += spentMs(often);
    ofLarge += spentMs(large);
  }
  if (ofLarge <= growthMax * ofSmall + grainMs) return null;
  return `${ofLarge.toFixed(1)} ms at once, ${ofSmall.toFixed(1)} ms in ${factor} parts`;
}

/** Of this thread: whatever else the machine does is left out. */
function spentMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
