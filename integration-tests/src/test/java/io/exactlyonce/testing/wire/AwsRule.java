package io.exactlyonce.testing.wire;

import io.exactlyonce.testing.wire.Receipts.Receipt;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The cases in which AWS answers differently than ElasticMQ, by its documentation: the API reference of {@code
 * DeleteMessage} and {@code ChangeMessageVisibility}, and the knowledge centre on receipt handles. The first rule that
 * fits an entry decides. An entry that fits no rule goes to the server.
 */
enum AwsRule {
    /** Deleting is idempotent. */
    DELETE_OF_A_DELETED_MESSAGE(entry -> entry.isDelete() && entry.receipt().isDeleted(), Verdict.GRANTED),

    /** "For FIFO queues, a receipt handle expires after a visibility timeout period." */
    DELETE_WITH_AN_EXPIRED_HANDLE_OF_A_FIFO_QUEUE(entry -> entry.isDelete() && entry.isExpired(), Verdict.EXPIRED),

    /** "... otherwise, the request succeeds, but the message will not be deleted." */
    DELETE_WITH_THE_HANDLE_OF_AN_EARLIER_RECEIVE(
            entry -> entry.isDelete() && !entry.receipt().isNewest(), Verdict.GRANTED),

    /** "Values range: 0 to 43200." */
    VISIBILITY_OUT_OF_RANGE(
            entry -> entry.isChange() && (entry.seconds() < 0 || entry.seconds() > Verdict.MOST_SECONDS),
            Verdict.OUT_OF_RANGE),

    CHANGE_OF_A_DELETED_MESSAGE(entry -> entry.isChange() && entry.receipt().isDeleted(), Verdict.GONE),

    CHANGE_WITH_AN_EXPIRED_HANDLE_OF_A_FIFO_QUEUE(entry -> entry.isChange() && entry.isExpired(), Verdict.EXPIRED),

    /** "The specified message isn't in flight." */
    CHANGE_OF_A_VISIBLE_MESSAGE(entry -> entry.isChange() && !entry.receipt().isHidden(), Verdict.NOT_IN_FLIGHT),

    /** "If you try to extend the visibility timeout beyond the maximum, your request is rejected." */
    VISIBILITY_BEYOND_TWELVE_HOURS_FROM_THE_RECEIVE(
            entry -> entry.isChange() && entry.receipt().age().toSeconds() + entry.seconds() > Verdict.MOST_SECONDS,
            Verdict.BEYOND_THE_TOTAL),

    /** A standard queue's old handles still work, even if another consumer has received the message since. */
    CHANGE_WITH_THE_HANDLE_OF_AN_EARLIER_RECEIVE(
            entry -> entry.isChange() && !entry.receipt().isNewest(), Verdict.AS_WITH_THE_NEWEST);

    /** One message of a request. */
    record Entry(SqsCall call, int seconds, Receipt receipt) {

        boolean isDelete() {
            return call.isDelete();
        }

        boolean isChange() {
            return call.isChange();
        }

        /** On a standard queue, no handle expires. */
        boolean isExpired() {
            return call.isOfFifoQueue() && !(receipt.isNewest() && receipt.isHidden());
        }
    }

    /**
     * The result of an entry.
     *
     * @param refusal the error of the entry; empty if it succeeds
     * @param isForwarded whether the server gets the entry, with the newest handle
     */
    record Verdict(Optional<SqsError> refusal, boolean isForwarded) {

        static final int MOST_SECONDS = 43_200;

        /** The entry succeeds, and nothing happens. */
        static final Verdict GRANTED = new Verdict(Optional.empty(), false);

        static final Verdict AS_WITH_THE_NEWEST = new Verdict(Optional.empty(), true);
        static final Verdict EXPIRED = refused(SqsError.ofTheHandle("The receipt handle has expired."));
        static final Verdict GONE = refused(
                SqsError.ofTheHandle("Message does not exist or is not available for visibility timeout change."));
        static final Verdict OUT_OF_RANGE = refused(SqsError.ofTheVisibility("Must be between 0 and 43200."));
        static final Verdict BEYOND_THE_TOTAL = refused(SqsError.ofTheVisibility(
                "Total VisibilityTimeout for the message is beyond the limit [43200 seconds]"));
        static final Verdict NOT_IN_FLIGHT = refused(SqsError.ofTheSender(
                "AWS.SimpleQueueService.MessageNotInflight", "The specified message isn't in flight."));

        private static Verdict refused(SqsError error) {
            return new Verdict(Optional.of(error), false);
        }
    }

    private final Predicate<Entry> fits;
    private final Verdict verdict;

    AwsRule(Predicate<Entry> fits, Verdict verdict) {
        this.fits = fits;
        this.verdict = verdict;
    }

    static Optional<Verdict> judge(Entry entry) {
        return Arrays.stream(values())
                .filter(rule -> rule.fits.test(entry))
                .findFirst()
                .map(rule -> rule.verdict);
    }
}
