// The engine behind openai_server.mjs: llama.cpp through node-llama-cpp, one
// model, one context, several sequences that are evaluated in common batches.
// A request holds one sequence from its prompt to its last token; the others
// wait in order of arrival, up to a bound.
import {load} from './packages.mjs';

export class Engine {
  // open({modelPath, sequences, contextSize, maxWaiting})
  static async open(options) {
    const {getLlama} = await load('node-llama-cpp');
    // build, skipDownload: what is in the npm package or nothing.
    const llama = await getLlama({gpu: false, build: 'never', skipDownload: true, maxThreads: 1, logLevel: 'warn'});
    const model = await llama.loadModel({modelPath: options.modelPath});
    const context = await model.createContext({
      sequences: options.sequences,
      contextSize: options.contextSize,
      threads: 1,
    });
    return new Engine(model, context, options);
  }

  constructor(model, context, {sequences, maxWaiting}) {
    this.model = model;
    this.contextSize = context.contextSize;
    this.maxWaiting = maxWaiting;
    this.idle = Array.from({length: sequences}, () => context.getSequence());
    this.waiting = [];
  }

  // Whether one more request would have to be turned away.
  get isFull() {
    return this.idle.length === 0 && this.waiting.length >= this.maxWaiting;
  }

  get name() {
    return this.model.fileInfo.metadata.general.name;
  }

  get vocabularySize() {
    return this.model.fileInfo.metadata.tokenizer.ggml.tokens.length;
  }

  tokenize(text) {
    return this.model.tokenize(text);
  }

  // The token of a name such as <|user|>.
  control(name) {
    return this.model.tokenize(name, true)[0];
  }

  // generate(prompt, options): yields the text of each token.  signal ends it
  // early, in the queue as well; onStart is called when a sequence is free.
  async *generate(prompt, {maxTokens, ignoreEos, signal, onStart, ...sampling}) {
    const sequence = await this.acquire(signal);
    if (sequence === null) return;
    try {
      onStart?.();
      let count = 0;
      for await (const token of sequence.evaluate(prompt, {...sampling, yieldEogToken: ignoreEos})) {
        if (signal.aborted) return;
        yield this.model.detokenize([token]);
        if (++count >= maxTokens) return;
      }
    } finally {
      this.release(sequence).catch((error) => console.error(error));
    }
  }

  // A sequence, or null if the client left while it waited.
  async acquire(signal) {
    if (signal.aborted) return null;
    if (this.idle.length > 0) return this.idle.pop();
    return new Promise((resolve) => {
      const leave = () => {
        this.waiting.splice(this.waiting.indexOf(take), 1);
        resolve(null);
      };
      const take = (sequence) => {
        signal.removeEventListener('abort', leave);
        resolve(sequence);
      };
      this.waiting.push(take);
      signal.addEventListener('abort', leave, {once: true});
    });
  }

  // No prefix is kept, so that equal prompts cost the same.  Clearing waits for a
  // moment in which no batch is queued, tens of milliseconds under load: hence
  // here, behind the answer, and not before the next one's first token.
  async release(sequence) {
    await sequence.clearHistory();
    const next = this.waiting.shift();
    if (next) next(sequence);
    else this.idle.push(sequence);
  }
}
