package io.exactlyonce.test.kit;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.assertj.core.api.AssertProvider;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.sqs.model.Message;

/**
 * One delivery of a message, with its current state. The state can change: for example, a waiting delivery may be
 * deleted later.
 *
 * <p>AssertJ's {@code assertThat(delivered)} returns a {@link DeliveredAssert}.
 */
public final class Delivered implements AssertProvider<DeliveredAssert> {

    private final Letter letter;
    private final String receiptHandle;
    private final int receiveCount;
    private final boolean mayFail;

    private @Nullable Delivery delivery;
    private @Nullable ClaimOutcome answer;
    private @Nullable ClaimId claim;
    private @Nullable Throwable failure;
    private List<Delivered> call = List.of(this);
    private Duration delay = Duration.ZERO;
    private int attempt;
    private int handlerCalls;
    private boolean unanswered;
    private boolean running;
    private boolean parked;
    private boolean lost;
    private boolean crashed;
    private boolean gone;

    /** @param mayFail whether the message's crashes and lost claims apply to this delivery */
    Delivered(Letter letter, boolean mayFail) {
        this.letter = letter;
        this.receiveCount = letter.receive();
        this.receiptHandle = letter.id() + "#" + receiveCount;
        this.mayFail = mayFail;
    }

    /** Returns the current outcome. */
    public synchronized Outcome outcome() {
        if (crashed) {
            return Outcome.CRASHED;
        }
        if (running) {
            return Outcome.RUNNING;
        }
        Delivery known = delivery;
        DeliveryState state = known == null ? DeliveryState.RECEIVED : known.state();
        return switch (state) {
            case CLAIMING -> unanswered ? Outcome.WAITING : Outcome.RUNNING;
            case RECEIVED, CLAIMED -> Outcome.RUNNING;
            case RECORDED, DELETING, GONE -> deleted();
            case WAITING -> Outcome.WAITING;
            case ABANDONED -> Outcome.ABANDONED;
            case HANDLING, HANDLED -> Outcome.UNRECORDED;
            default -> returned();
        };
    }

    private Outcome deleted() {
        if (handlerCalls > 0) {
            return Outcome.HANDLED;
        }
        Delivery known = delivery;
        return known == null || known.attempt().hasKey() ? Outcome.SUPPRESSED : Outcome.SKIPPED;
    }

    private Outcome returned() {
        if (lost) {
            return Outcome.ABANDONED;
        }
        if (parked || answer instanceof ClaimOutcome.Parked) {
            return Outcome.PARKED;
        }
        return answer instanceof ClaimOutcome.Mismatch ? Outcome.MISMATCHED : Outcome.RETURNED;
    }

    /** Returns whether the message is deleted, by this or another delivery. */
    public boolean isDeleted() {
        return letter.isDeleted();
    }

    /**
     * Returns the latest visibility timeout that was set for the message. Zero means that SQS redelivers the message at
     * once.
     */
    public synchronized Duration delay() {
        return delay;
    }

    /** Returns how often the handler was called for this delivery: 0 or 1, or more if a transaction was repeated. */
    public synchronized int handlerCalls() {
        return handlerCalls;
    }

    /** Returns the number of this attempt at the key, counted from 1; 0 if the handler was not called. */
    public synchronized int attempt() {
        return attempt;
    }

    /** Returns the handler's failure. */
    public synchronized Optional<Throwable> failure() {
        return Optional.ofNullable(failure);
    }

    /** Returns the message's id, which is the same for all deliveries of the message. */
    public String messageId() {
        return letter.id();
    }

    /** Returns the number of deliveries of the message, up to and including this one. */
    public int receiveCount() {
        return receiveCount;
    }

    @Override
    public DeliveredAssert assertThat() {
        return new DeliveredAssert(this);
    }

    Letter letter() {
        return letter;
    }

    String receiptHandle() {
        return receiptHandle;
    }

    Message received() {
        return letter.received(receiptHandle, receiveCount);
    }

    boolean crashesAt(CrashPoint point) {
        return mayFail && letter.message().crashesAt(point);
    }

    boolean losesItsClaim() {
        return mayFail && letter.message().losesItsClaim();
    }

    synchronized void met(Delivery seen) {
        delivery = seen;
    }

    synchronized Optional<Delivery> delivery() {
        return Optional.ofNullable(delivery);
    }

    /** Records that the store is unavailable. The claim is retried until the store responds. */
    synchronized void unanswered() {
        unanswered = true;
    }

    synchronized void answered(ClaimOutcome outcome) {
        unanswered = false;
        answer = outcome;
    }

    synchronized void handlerStarted(ClaimId held, int number) {
        claim = held;
        attempt = number;
        handlerCalls++;
        running = true;
    }

    /** Sets the deliveries with which the handler was called, including this one. All of them have one worker. */
    synchronized void calledWith(List<Delivered> all) {
        call = all;
    }

    synchronized void handlerEnded(@Nullable Throwable thrown) {
        running = false;
        failure = thrown;
    }

    synchronized Optional<ClaimId> claim() {
        return Optional.ofNullable(claim);
    }

    synchronized void park() {
        parked = true;
    }

    /** Records that the store reported the claim as lost. */
    synchronized void lose() {
        lost = true;
    }

    synchronized void gone() {
        gone = true;
    }

    /** Ends the delivery, because its worker stopped. */
    void crash() {
        mates().forEach(Delivered::end);
    }

    private synchronized List<Delivered> mates() {
        return call;
    }

    private synchronized void end() {
        crashed = true;
    }

    synchronized boolean isCrashed() {
        return crashed;
    }

    synchronized boolean isRunning() {
        return running;
    }

    /**
     * Returns whether the state stays the same until time passes or the handler ends. The delivery may also be waiting.
     */
    synchronized boolean isAtRest(boolean storeIsAway) {
        if (running) {
            return false;
        }
        return gone || (storeIsAway && outcome() == Outcome.UNRECORDED);
    }

    /** Hides the message for some time. Returns whether the worker may still change its message. */
    synchronized boolean hide(Duration length, long now) {
        if (crashed) {
            return false;
        }
        delay = length;
        letter.hideUntil(now + length.toNanos());
        return true;
    }

    synchronized boolean delete() {
        if (crashed) {
            return false;
        }
        letter.delete();
        return true;
    }

    String name() {
        return "message %s (receive %d) of queue '%s'".formatted(letter.id(), receiveCount, letter.queue());
    }

    @Override
    public synchronized String toString() {
        return "%s: %s; the handler was called %s, and %s; its claim was answered with %s; the message is %s"
                .formatted(
                        name(),
                        outcome(),
                        handlerCalls == 0 ? "not at all" : "for attempt " + attempt,
                        failure == null ? "has not failed" : "has failed with " + failure,
                        answer == null ? "nothing" : answer.getClass().getSimpleName(),
                        isDeleted() ? "deleted" : "not deleted");
    }
}
