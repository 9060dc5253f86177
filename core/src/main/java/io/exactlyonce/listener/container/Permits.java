package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.BackPressureMode;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandler.ReleaseReason;
import io.awspring.cloud.sqs.listener.backpressure.BatchAwareBackPressureHandler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Permits to receive messages, one for each message. At most {@code maxConcurrentMessages} permits are held. While a
 * permit is free, a poll is in progress or is sent soon.
 *
 * <p>Spring Cloud AWS's own back-pressure handler also counts permits, but it may delay a poll by up to {@code
 * maxDelayBetweenPolls}, by default 10 s. It does so in two cases: if fewer permits are free than a whole poll needs,
 * and while a listener is idle. Messages that become visible meanwhile would be received too late. So this class counts
 * the permits itself.
 *
 * <p>If the application has a back-pressure handler of its own, that handler is used as Spring Cloud AWS uses it.
 */
final class Permits {

    /**
     * If fewer permits are free than a whole poll needs, the poll is delayed at most this long, until more are free.
     * The delay saves polls: SQS charges as much for a poll of one message as for a poll of ten.
     */
    private static final Duration FULL_POLL_WAIT = Duration.ofMillis(100);

    /**
     * Limit of polls at a time. Each poll that waits for messages keeps one of the 50 connections of the SDK's client,
     * and renewals and deletes need connections, too. Without this limit, a listener that has released hundreds of
     * permits at a time would send a poll for every ten of them.
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
     * Returns whether the container uses Spring Cloud AWS's own back-pressure handler. If the application has another
     * one, no permit may be released early: that handler may assume that each released permit stands for a handled
     * message.
     */
    static boolean hasBackPressureOfSpringCloudAws(SqsContainerOptions options) {
        return options.getBackPressureHandlerFactory()
                == SqsContainerOptions.builder().build().getBackPressureHandlerFactory();
    }

    /**
     * Returns how many polls may be in progress at a time: one while no messages arrive, and {@link #MOST_POLLS}
     * otherwise. In mode {@code FIXED_HIGH_THROUGHPUT}, and with the application's own back pressure, always returns
     * {@link #MOST_POLLS}.
     */
    int mostPolls() {
        return isCounted && isIdle && mode != BackPressureMode.FIXED_HIGH_THROUGHPUT ? 1 : MOST_POLLS;
    }

    /** Returns how many polls are needed at a time to use all permits, but at most {@link #MOST_POLLS}. */
    int mostPollsUnderLoad() {
        return Math.min(MOST_POLLS, (most + perPoll - 1) / perPoll);
    }

    /**
     * Waits for a permit, or in mode {@code ALWAYS_POLL_MAX_MESSAGES} for the permits of a whole poll. Returns how many
     * messages may be polled now; 0 on timeout.
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
