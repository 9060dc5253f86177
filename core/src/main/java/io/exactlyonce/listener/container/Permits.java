package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.BackPressureMode;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandler.ReleaseReason;
import io.awspring.cloud.sqs.listener.backpressure.BatchAwareBackPressureHandler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Permits of the container's back pressure, one for each message. Awspring's own waits up to 10 s for a whole poll's worth of them
 * before it gives out fewer; a message that becomes visible while one handler is slow would wait as long. Here what is free is used
 * soon. Back pressure of the application's own, and a mode that wants whole polls, are asked as awspring asks them.
 */
final class Permits {

    /** For how long few permits wait for more: a poll of one message costs as much as one of ten. */
    private static final Duration PATIENCE = Duration.ofMillis(100);

    private final BatchAwareBackPressureHandler original;
    private final boolean isCounted;
    private final int most;
    private final int perPoll;
    private final Counter taken = new Counter(new AtomicInteger());

    Permits(BatchAwareBackPressureHandler original, SqsContainerOptions options) {
        this.original = original;
        this.isCounted =
                isAwsprings(options) && options.getBackPressureMode() != BackPressureMode.ALWAYS_POLL_MAX_MESSAGES;
        this.most = options.getMaxConcurrentMessages();
        this.perPoll = options.getMaxMessagesPerPoll();
    }

    /** Returns whether back pressure is awspring's own: another one may have a limit, and take what is released for ended. */
    static boolean isAwsprings(SqsContainerOptions options) {
        return options.getBackPressureHandlerFactory()
                == SqsContainerOptions.builder().build().getBackPressureHandlerFactory();
    }

    /** Returns how many messages may be polled now; waits for the first permit. */
    int request(Duration longest) throws InterruptedException {
        int granted = 0;
        if (!isCounted) {
            granted = original.requestBatch();
        } else if (taken.awaitAtMost(most - 1, longest)) {
            taken.awaitAtMost(Math.max(0, most - perPoll), PATIENCE);
            granted = original.request(Math.min(most - taken.get(), perPoll));
        }
        taken.add(granted);
        return granted;
    }

    void release(int permits, ReleaseReason reason) {
        original.release(permits, reason);
        taken.add(-permits);
    }

    /** Waits until all are released; returns whether they are. */
    boolean drain(Duration timeout) {
        return original.drain(timeout);
    }
}
