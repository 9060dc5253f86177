package io.exactlyonce.renewal;

import io.exactlyonce.renewal.RenewalObserver.Result;
import io.exactlyonce.time.NanoClock;
import io.exactlyonce.visibility.QueueVisibility;
import io.exactlyonce.visibility.QueueVisibility.Change;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The visibility window of one delivery. */
final class RenewedWindow {

    private final Subscription subscription;
    private final String receiptHandle;
    private final long receivedAt;
    private final RenewalState span;
    private final NanoClock clock;
    private volatile boolean ending;
    private volatile CompletableFuture<Void> underWay = CompletableFuture.completedFuture(null);

    RenewedWindow(
            Subscription subscription, String receiptHandle, long receivedAt, RenewalState span, NanoClock clock) {
        this.subscription = subscription;
        this.receiptHandle = receiptHandle;
        this.receivedAt = receivedAt;
        this.span = span;
        this.clock = clock;
    }

    Subscription subscription() {
        return subscription;
    }

    String receiptHandle() {
        return receiptHandle;
    }

    /** Returns when SQS makes the message visible, whatever is asked of it. */
    long ceiling() {
        return receivedAt + VisibilityWindow.CEILING.toNanos();
    }

    void announce() {
        span.announce();
    }

    boolean isDue(long now) {
        return span.isDue(now);
    }

    /**
     * Begins to renew the window if that is due. A window that has ended is lost instead: the message may be somebody
     * else's by now, and on a standard queue our old receipt handle would still act on it.
     */
    synchronized Attempt attempt(long now) {
        if (!span.attempt(now)) {
            return Attempt.NOT_DUE;
        }
        int seconds = secondsFrom(now);
        if (span.isOver(now) || seconds < 1) {
            return new Attempt(Optional.empty(), span.lost());
        }
        underWay = new CompletableFuture<>();
        return new Attempt(Optional.of(new Change(receiptHandle, seconds)), null);
    }

    /** Returns how long the window may last from now on: its length, unless the ceiling comes first. */
    private int secondsFrom(long now) {
        long left = VisibilityWindow.CEILING.minusNanos(now - receivedAt).toSeconds();
        return (int) Math.min(span.length().toSeconds(), left);
    }

    /**
     * What came of the request to renew.
     *
     * @param change what to ask the queue for, if anything
     * @param result how the attempt ended, if it has
     */
    record Attempt(Optional<Change> change, @Nullable Result result) {
        static final Attempt NOT_DUE = new Attempt(Optional.empty(), null);
    }

    /**
     * From now on, a message that the queue does not know any more has just been deleted.
     *
     * @return completes when the renewal that is under way has been answered, if one is
     */
    synchronized CompletableFuture<Void> ending() {
        ending = true;
        return underWay;
    }

    /** Records the queue's answer; returns how the attempt ended, or {@code null} if nobody waits for it any more. */
    @Nullable Result answered(QueueVisibility.Result answer, long begun, double random) {
        // Before the span is open for the next attempt, which has a future of its own.
        CompletableFuture<Void> answered = underWay;
        Result result = switch (answer) {
            case CHANGED -> span.succeeded(begun, Duration.ofSeconds(secondsFrom(begun)));
            case FAILED -> span.failed(clock.nanoTime(), random);
            case REFUSED -> refused();
        };
        answered.complete(null);
        return result;
    }

    private @Nullable Result refused() {
        if (ending) {
            span.stop();
            return null;
        }
        return span.lost();
    }

    /** Stops; completes when no renewal is under way. Excludes {@link #attempt}, so that it misses none that begins. */
    synchronized CompletableFuture<Void> stop() {
        span.stop();
        return underWay;
    }

    /**
     * Returns what makes the message visible after a delay; nothing if the window is over or lost, or the handler itself
     * chose a longer one. Call it after {@link #stop()}.
     *
     * @param delay rounded up to whole seconds; shorter if SQS's ceiling, beyond which it refuses, comes first
     */
    Optional<Change> exposure(Duration delay, boolean ours) {
        long now = clock.nanoTime();
        if (!ours || span.isOver(now) || span.isChosenBeyond(now + delay.toNanos())) {
            return Optional.empty();
        }
        long left = Math.max(0, Duration.ofNanos(ceiling() - now).toSeconds());
        return Optional.of(new Change(
                receiptHandle, (int) Math.min(delay.plusNanos(999_999_999).toSeconds(), left)));
    }

    /**
     * Lets the handler change the visibility itself. The change waits for a renewal that is under way, which would
     * overwrite it, and later renewals respect it.
     *
     * @param request sends the change
     */
    CompletableFuture<Void> choose(Duration wanted, Supplier<CompletableFuture<Void>> request) {
        CompletableFuture<Void> chosen = new CompletableFuture<>();
        synchronized (this) {
            CompletableFuture<Void> renewing = underWay;
            if (!renewing.isDone()) {
                return renewing.thenCompose(answered -> choose(wanted, request));
            }
            long now = clock.nanoTime();
            if (span.isOver(now) || !span.take(now)) {
                return CompletableFuture.failedFuture(new IllegalStateException(
                        "The visibility of a message of %s cannot be changed any more: its window is over, and it may be another consumer's"
                                .formatted(subscription)));
            }
            underWay = chosen;
        }
        return HandlerChoice.send(span, clock.nanoTime(), wanted, request)
                .whenComplete((ignored, failure) -> chosen.complete(null));
    }

    void leaveToItsEnd() {
        span.leaveToItsEnd();
    }

    void renewAgain() {
        span.renewAgain();
    }

    /** Loses the window if it has ended while its renewal is failing, unanswered or not wanted. */
    boolean loseIfInDoubt(long now) {
        return span.loseIfInDoubt(now);
    }

    boolean isOn(long now) {
        return span.isOn(now);
    }
}
