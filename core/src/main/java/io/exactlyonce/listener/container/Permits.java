package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.BackPressureMode;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandler.ReleaseReason;
import io.awspring.cloud.sqs.listener.backpressure.BatchAwareBackPressureHandler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Permits to receive messages, one for each message. This class counts the permits of Spring Cloud AWS's back-pressure
 * modes itself, because Spring Cloud AWS's own handler waits too long. It waits up to {@code maxDelayBetweenPolls}, 10
 * s, for the permits of a whole poll. It waits as long for the end of an idle listener's only poll, even after that
 * poll has returned all messages that it requested. Messages that become visible meanwhile wait as long. The
 * application's own back pressure is called as Spring Cloud AWS calls it.
 *
 * <p>Guaranteed: while a permit is free, a poll that has one is in progress or is sent soon; and no more permits are
 * held than the listener's number.
 */
final class Permits {

    /**
     * The longest wait of a few permits for more permits, because a poll of one message costs as much as a poll of ten.
     */
    private static final Duration FULL_POLL_WAIT = Duration.ofMillis(100);

    /**
     * The most polls at a time. A poll that waits for messages keeps a connection to SQS. The SDK's client has 50
     * connections, and renewals and deletes need some of them. When hundreds of messages end together, a poll for each
     * ten of them would be sent at once.
     */
    private static final int MOST_POLLS = 10;

    final Counter taken = new Counter(new AtomicInteger());

    private final BatchAwareBackPressureHandler original;
    private final boolean isCounted;
    private final BackPressureMode mode;
    private final int most;
    private final int perPoll;
    private volatile boolean isIdle = true;

    Permits(BatchAwareBackPressureHandler original, SqsContainerOptions options) {
        this.original = original;
        this.isCounted = hasBackPressureOfSpringCloudAws(options);
        this.mode = options.getBackPressureMode();
        this.most = options.getMaxConcurrentMessages();
        this.perPoll = options.getMaxMessagesPerPoll();
    }

    /**
     * Returns whether back pressure is Spring Cloud AWS's own. Another implementation may treat released permits as
     * ended messages.
     */
    static boolean hasBackPressureOfSpringCloudAws(SqsContainerOptions options) {
        return options.getBackPressureHandlerFactory()
                == SqsContainerOptions.builder().build().getBackPressureHandlerFactory();
    }

    /**
     * Returns how many polls may wait for messages at a time: one while no messages arrive, unless the mode says
     * otherwise.
     */
    int mostPolls() {
        return isCounted && isIdle && mode != BackPressureMode.FIXED_HIGH_THROUGHPUT ? 1 : MOST_POLLS;
    }

    /** Returns how many polls may wait for messages at a time while messages arrive. */
    int mostPollsUnderLoad() {
        return Math.min(MOST_POLLS, (most + perPoll - 1) / perPoll);
    }

    /**
     * Returns how many messages may be polled now. Waits for the first permit, or in some modes for the permits of a
     * whole poll.
     */
    int request(Duration longest) throws InterruptedException {
        int least = mode == BackPressureMode.ALWAYS_POLL_MAX_MESSAGES ? perPoll : 1;
        int granted = 0;
        if (!isCounted) {
            granted = original.requestBatch();
        } else if (taken.awaitAtMost(most - least, longest)) {
            taken.awaitAtMost(most - perPoll, FULL_POLL_WAIT);
            granted = Math.min(most - taken.get(), perPoll);
        }
        taken.add(granted);
        return granted;
    }

    void release(int permits, ReleaseReason reason) {
        if (reason == ReleaseReason.NONE_FETCHED || reason == ReleaseReason.PARTIAL_FETCH) {
            isIdle = reason == ReleaseReason.NONE_FETCHED;
        }
        if (!isCounted) {
            original.release(permits, reason);
        }
        taken.add(-permits);
    }

    /** Waits until all permits are released. Returns false on timeout. */
    boolean drain(Duration timeout) throws InterruptedException {
        return isCounted ? taken.awaitAtMost(0, timeout) : original.drain(timeout);
    }
}
