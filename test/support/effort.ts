/** How much work a test does: the usual amount in `npm test`, the thorough one in `npm run fuzz` and `soak`. */

/** `thorough` when the run asks for it (`TIERGATE_EFFORT=thorough`), else `usual`. */
export function effort<Amount>(usual: Amount, thorough: Amount): Amount {
  return process.env['TIERGATE_EFFORT'] === 'thorough' ? thorough : usual;
}
