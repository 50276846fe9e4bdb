/** The two forms of a stream: events (`alt=sse`), or one JSON array that grows. */

export type StreamFraming = {
  readonly document: (json: string) => string;
  /** A provider's own event, as it stands in its stream. */
  readonly frame: (bytes: Buffer) => Buffer | string;
  readonly end: () => string;
};

/** No terminator: the end of the body is the end. */
export function eventFraming(): StreamFraming {
  return {
    document: (json) => `data: ${json}\r\n\r\n`,
    frame: (bytes) => bytes,
    end: () => '',
  };
}

export function arrayFraming(): StreamFraming {
  let hasElements = false;
  const element = (json: string): string => {
    const before = hasElements ? ',\r\n' : '[';
    hasElements = true;
    return before + json;
  };
  return {
    document: element,
    frame: (bytes) => {
      const data = dataOf(bytes);
      return data === '' || data === '[DONE]' ? '' : element(data);
    },
    end: () => (hasElements ? '\r\n]\r\n' : '[]\r\n'),
  };
}

/** What the lines of one event carry. */
function dataOf(bytes: Buffer): string {
  const lines = bytes
    .toString('utf8')
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith('data:'));
  return lines
    .map((line) => line.slice('data:'.length))
    .join('\n')
    .trim();
}
