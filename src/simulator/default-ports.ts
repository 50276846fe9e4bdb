/** The ports next to the gateway's own, so that an address stays the same from one start to the next. */
import { type Simulation, type SimulatorOptions, startSimulator } from './simulator.ts';
import type { VendorName } from './vendors/vendor.ts';

export const simulatorPorts = {
  control: 8438,
  openai: 8439,
  anthropic: 8440,
  gemini: 8441,
  bedrock: 8442,
};

/** The vendors on their usual ports, or, where one is taken, on any free ones. */
export async function startSimulatorAtHome(
  options: Omit<SimulatorOptions, 'ports'> = {},
): Promise<Simulation<VendorName>> {
  try {
    return await startSimulator({ ...options, ports: simulatorPorts });
  } catch {
    // A port is taken, most likely by another gateway on this machine; if not, the next try says so.
    return startSimulator({ ...options, ports: 0 });
  }
}
