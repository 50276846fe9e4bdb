/** Appends a list whose length others decide: spread into a call, a long one would overflow the stack. */
export function append<Item>(list: Item[], more: Iterable<Item>): void {
  for (const item of more) list.push(item);
}
