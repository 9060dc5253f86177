package io.exactlyonce.delivery.pipeline;

import java.util.concurrent.Executor;

/**
 * The threads for handlers whose work goes on after their method has returned.
 *
 * @param completions records outcomes, which blocks for as long as the store is away
 * @param cancellations cancels futures, which may call the application's own code; must not make its caller wait
 */
public record FutureThreads(Executor completions, Executor cancellations) {}
