package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.BatchResult;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.FailedItems;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.queue.Subscription;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Several deliveries that share one transaction. The transaction commits the effects of all deliveries, or of none. */
class TransactionalBatchTests {

    private static final Acquired ACQUIRED = new Acquired(1, 17, false);

    /** Grants every key unless a test scripts another answer, and records the keys of each commit. */
    private static final class ScriptedTransaction implements ClaimTransaction {

        private final Map<String, ClaimOutcome> outcomes = new HashMap<>();
        private final List<List<String>> committed = new ArrayList<>();
        private @Nullable Throwable aftermath;

        @Override
        public List<ClaimOutcome> execute(List<ClaimRequest> requests, BatchWork work) throws Exception {
            List<String> keys =
                    requests.stream().map(request -> request.key().key()).toList();
            List<ClaimOutcome> answers = keys.stream()
                    .<ClaimOutcome>map(key -> outcomes.getOrDefault(key, ACQUIRED))
                    .toList();
            if (answers.contains(ACQUIRED)) {
                Map<ClaimId, String> results = work.run(answers);
                assertThat(results).isEmpty();
                committed.add(keys);
            }
            return answers;
        }

        @Override
        public boolean isAftermath(Throwable failure) {
            return failure == aftermath;
        }
    }

    private final DeliveryRig rig = new DeliveryRig();
    private final ScriptedTransaction transaction = new ScriptedTransaction();
    private final List<Delivery> deliveries = new ArrayList<>();
    private final List<List<String>> calls = new ArrayList<>();
    private InDoubtSettings doubt = InDoubtSettings.RERUN;

    /**
     * Receives one message for each argument. The argument is the group of the message, and the key is the group
     * followed by the index.
     */
    private List<Delivery> receive(String... groups) {
        return receive(transaction, groups);
    }

    private List<Delivery> receive(ClaimTransaction in, String... groups) {
        List<Delivery> attempts = new ArrayList<>();
        for (int place = 0; place < groups.length; place++) {
            Delivery delivery = rig.receive(rig.orders, "handle " + place, 1);
            deliveries.add(delivery);
            ClaimKey key = new ClaimKey("orders", groups[place] + place);
            attempts.add(DeliveryRig.asking(delivery, groups[place], new ClaimSpec(key, null, doubt, in)));
        }
        return attempts;
    }

    private void called(List<Delivery> claimed) {
        calls.add(claimed.stream().map(each -> each.attempt().claim().key()).toList());
        claimed.forEach(each -> each.attempt().claim().ensureHeld());
    }

    /**
     * Returns a handler that reports this failure for the message with this key, whenever a call contains that message.
     */
    private DeliveryRig.BatchHandler failing(String key, Exception failure) {
        return claimed -> {
            called(claimed);
            BatchResult result = BatchResult.allSucceeded();
            for (int index = 0; index < claimed.size(); index++) {
                if (claimed.get(index).attempt().claim().key().equals(key)) {
                    result = result.andFailed(index, failure);
                }
            }
            DeliveryRig.end(result, claimed);
        };
    }

    private List<Boolean> settle() {
        return deliveries.stream().map(rig::settle).toList();
    }

    @Test
    void allShareOneTransactionAndTheStoreGetsNoRequest() throws Throwable {
        rig.process(receive("", "", ""), this::called);

        assertThat(calls).containsExactly(List.of("0", "1", "2"));
        assertThat(transaction.committed).containsExactly(List.of("0", "1", "2"));
        assertThat(settle()).containsExactly(true, true, true);
        assertThat(rig.outcomes).hasSize(3).containsOnly(ACQUIRED);
        assertThat(rig.handled).hasSize(1);
        assertThat(rig.store.claims()).isEmpty();
        assertThat(rig.store.completions()).isEmpty();
        assertThat(rig.store.releases()).isEmpty();
    }

    @Test
    void nothingStaysOfAMessageThatFailedAndTheRestIsHandledWithoutIt() {
        IOException noStock = new IOException("no stock");

        assertThat(rig.failureOf(receive("", "", ""), failing("1", noStock))).isInstanceOf(FailedItems.class);

        assertThat(calls).containsExactly(List.of("0", "1", "2"), List.of("0", "2"));
        assertThat(transaction.committed).containsExactly(List.of("0", "2"));
        assertThat(settle()).containsExactly(true, false, true);
        assertThat(rig.returns()).containsExactly(4);
    }

    static Stream<Exception> failureThatNamesNoMessageFailsAllAtOnce() {
        return Stream.of(new IOException("the warehouse is closed"), new IllegalArgumentException("no quantity"));
    }

    @ParameterizedTest
    @MethodSource
    void failureThatNamesNoMessageFailsAllAtOnce(Exception thrown) {
        assertThat(rig.failureOf(receive("", ""), claimed -> {
                    called(claimed);
                    throw thrown;
                }))
                .isSameAs(thrown);

        assertThat(calls).hasSize(1);
        assertThat(transaction.committed).isEmpty();
        assertThat(rig.asked).as("what observers are told of the claim").hasSize(1);
        assertThat(settle()).containsExactly(false, false);
        assertThat(rig.returns()).containsExactly(4, 4);
    }

    /**
     * The stop holds back the first message. The stop alone would not hold back the second message, because that
     * message is on its last receive.
     */
    @Test
    void lastReceiveDoesNotOvertakeAMessageThatItsListenersStopHoldsBack() {
        Subscription stopping = rig.receiving(2);
        Delivery first = rig.receive(stopping, "first", 1);
        Delivery last = rig.receive(stopping, "last", 2);
        ClaimTransaction stops = new ClaimTransaction() {
            @Override
            public List<ClaimOutcome> execute(List<ClaimRequest> requests, BatchWork work) throws Exception {
                rig.deliveries().beginStop(stopping);
                return transaction.execute(requests, work);
            }
        };
        List<Delivery> group = Stream.of(first, last)
                .map(each -> DeliveryRig.asking(
                        each, "a", new ClaimSpec(new ClaimKey("orders", each.receiptHandle()), null, doubt, stops)))
                .toList();

        assertThat(rig.failureOf(group, this::called)).isInstanceOf(ClaimLostException.class);

        assertThat(calls).isEmpty();
        assertThat(transaction.committed).isEmpty();
    }

    /**
     * Message 1 failed by itself. PostgreSQL then refused the statements of messages 2 and 3, because the transaction
     * was already aborted.
     */
    @Test
    void messagesThatFailedOnlyBecauseOfAnEarlierOneAreHandledWithoutIt() {
        IllegalStateException aborted = new IllegalStateException("current transaction is aborted");
        transaction.aftermath = aborted;

        assertThat(rig.failureOf(receive("", "", "", ""), claimed -> {
                    called(claimed);
                    BatchResult result = BatchResult.allSucceeded();
                    for (int index = 1; claimed.size() == 4 && index < 4; index++) {
                        result = result.andFailed(index, index == 1 ? new IOException("no stock") : aborted);
                    }
                    DeliveryRig.end(result, claimed);
                }))
                .isInstanceOf(FailedItems.class);

        assertThat(calls).containsExactly(List.of("0", "1", "2", "3"), List.of("0", "2", "3"));
        assertThat(transaction.committed).containsExactly(List.of("0", "2", "3"));
        assertThat(settle()).containsExactly(true, false, true, true);
        assertThat(rig.returns()).containsExactly(4);
    }

    /**
     * The handler reports only a failure that follows from an earlier, unknown failure. The engine treats the reported
     * message as failed, because otherwise the handler would be called with all messages forever.
     */
    @Test
    void messagesThatAllFailedBecauseOfAnUnknownOneHaveFailed() {
        IllegalStateException aborted = new IllegalStateException("current transaction is aborted");
        transaction.aftermath = aborted;

        assertThat(rig.failureOf(receive("", ""), failing("1", aborted))).isInstanceOf(FailedItems.class);

        assertThat(calls).containsExactly(List.of("0", "1"), List.of("0"));
        assertThat(settle()).containsExactly(true, false);
    }

    /**
     * The handler succeeded with the later message a1, but the rollback undoes its effect. The second call leaves a1
     * out, because the group must stay in order.
     */
    @Test
    void laterMessageOfAGroupDoesNotOvertakeOneThatFailed() {
        assertThat(rig.failureOf(receive("a", "a", "b"), failing("a0", new IOException("no stock"))))
                .isInstanceOf(FailedItems.class);

        assertThat(calls).containsExactly(List.of("a0", "a1", "b2"), List.of("b2"));
        assertThat(transaction.committed).containsExactly(List.of("b2"));
        assertThat(settle()).containsExactly(false, false, true);
        assertThat(rig.returns()).containsExactly(4, 0);
    }

    @Test
    void laterMessageOfAGroupWaitsBehindOneWhoseKeyIsHeldElsewhere() throws Throwable {
        transaction.outcomes.put("a0", new HeldElsewhere(Duration.ofSeconds(20)));

        rig.process(receive("a", "a", "b"), this::called);

        assertThat(calls).containsExactly(List.of("b2"));
        assertThat(transaction.committed).containsExactly(List.of("b2"));
        assertThat(settle()).containsExactly(false, false, true);
        assertThat(rig.returns()).containsExactly(0);
    }

    @Test
    void duplicateIsDeletedAlthoughItsTransactionIsRolledBack() {
        transaction.outcomes.put("0", new AlreadyCompleted(null));

        assertThat(rig.failureOf(receive("", ""), failing("1", new IOException("no stock"))))
                .isInstanceOf(FailedItems.class);

        assertThat(calls).containsExactly(List.of("1"));
        assertThat(settle()).containsExactly(true, false);
    }

    @Test
    void commitThatFailsFailsAll() {
        ClaimTransaction breaking = (requests, work) -> {
            transaction.execute(requests, work);
            throw new IllegalStateException("connection reset");
        };

        assertThat(rig.failureOf(receive(breaking, "", ""), this::called)).hasMessage("connection reset");

        assertThat(calls).hasSize(1);
        assertThat(settle()).containsExactly(false, false);
        assertThat(rig.returns()).containsExactly(4, 4);
    }

    @Test
    void messageForWhichTryingAgainIsOfNoUseIsParkedAlone() {
        doubt = new InDoubtSettings(InDoubtPolicy.RERUN, null, List.of(IOException.class));

        assertThat(rig.failureOf(receive("", ""), failing("0", new IOException("card expired"))))
                .isInstanceOf(FailedItems.class);

        assertThat(rig.store.parkings())
                .singleElement()
                .satisfies(parking -> assertThat(parking.claim().key().key()).isEqualTo("0"));
        assertThat(transaction.committed).containsExactly(List.of("1"));
        assertThat(settle()).containsExactly(false, true);
    }

    /**
     * Each message counts its own failures. An interrupt does not count as a failure, and neither does a missing answer
     * of another store.
     */
    @Test
    void messageThatWasInterruptedOrGotNoAnswerIsNotParkedBesideOneThatFailed() {
        doubt = new InDoubtSettings(InDoubtPolicy.RERUN, null, List.of(), 1);
        List<Exception> failures = List.of(
                new IOException("no stock"),
                new IllegalStateException("no answer", new InterruptedException()),
                new ClaimStoreUnavailableException("of another store", null));

        rig.failureOf(receive("", "", ""), claimed -> {
            called(claimed);
            BatchResult result = BatchResult.allSucceeded();
            for (int index = 0; index < claimed.size(); index++) {
                result = result.andFailed(index, failures.get(index));
            }
            DeliveryRig.end(result, claimed);
        });

        assertThat(rig.store.parkings())
                .singleElement()
                .satisfies(parking -> assertThat(parking.claim().key().key()).isEqualTo("0"));
        assertThat(settle()).containsExactly(false, false, false);
    }

    /** One interrupt stops the call that all messages share, so no message counts as failed by itself. */
    @Test
    void stopOfOneMessageRollsAllBack() {
        doubt = new InDoubtSettings(InDoubtPolicy.RERUN, null, List.of(Exception.class));

        assertThat(rig.failureOf(receive("", ""), claimed -> {
                    called(claimed);
                    deliveries.get(1).stopHandler();
                    throw new InterruptedException();
                }))
                .isInstanceOf(InterruptedException.class);

        assertThat(calls).hasSize(1);
        assertThat(transaction.committed).isEmpty();
        assertThat(rig.store.parkings()).isEmpty();
        assertThat(settle()).containsExactly(false, false);
        assertThat(Thread.interrupted()).isFalse();
    }
}
