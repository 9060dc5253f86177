package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.AbandonedPolicy;
import io.exactlyonce.BatchItemFailures;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.InDoubtPolicy;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A list of deliveries in one transaction: all of it is committed, or nothing. */
class TransactionalBatchTests {

    private static final Acquired ACQUIRED = new Acquired(1, 17, false);

    /** Grants what is not said to be otherwise, and takes down what was asked for and what was committed. */
    private static final class ScriptedTransaction implements ClaimTransaction {

        private final Map<String, ClaimOutcome> outcomes = new HashMap<>();
        private final List<List<String>> asked = new ArrayList<>();
        private final List<List<String>> committed = new ArrayList<>();
        private final Set<String> unstorable = new HashSet<>();

        @Override
        public List<ClaimOutcome> execute(List<ClaimRequest> requests, BatchWork work) throws Exception {
            List<String> keys =
                    requests.stream().map(request -> request.key().key()).toList();
            asked.add(keys);
            if (!Collections.disjoint(keys, unstorable)) {
                throw new IllegalArgumentException("cannot store one of these keys");
            }
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
    }

    private final DeliveryRig rig = new DeliveryRig();
    private final ScriptedTransaction transaction = new ScriptedTransaction();
    private final List<Delivery> deliveries = new ArrayList<>();
    private final List<List<String>> calls = new ArrayList<>();
    private InDoubtPolicy doubt = InDoubtPolicy.RERUN;

    /** Receives a message for each group; its key is its group's name and its place. */
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
        calls.add(claimed.stream().map(each -> each.claim().key()).toList());
        claimed.forEach(each -> each.claim().ensureHeld());
    }

    /** Fails the one of a key, whenever it is called with it. */
    private DeliveryRig.BatchHandler failing(String key, Exception failure) {
        return claimed -> {
            called(claimed);
            BatchItemFailures failures = new BatchItemFailures();
            for (int index = 0; index < claimed.size(); index++) {
                if (claimed.get(index).claim().key().equals(key)) {
                    failures.add(index, failure);
                }
            }
            failures.throwIfAny();
        };
    }

    private List<Boolean> settle() {
        return deliveries.stream().map(rig.deliveries()::settle).toList();
    }

    @Test
    void allShareOneTransactionAndNothingIsAskedOfTheStore() throws Throwable {
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

        assertThatThrownBy(() -> rig.process(receive("", "", ""), failing("1", noStock)))
                .isInstanceOf(BatchItemFailures.class);

        assertThat(calls).containsExactly(List.of("0", "1", "2"), List.of("0", "2"));
        assertThat(transaction.committed).containsExactly(List.of("0", "2"));
        assertThat(settle()).containsExactly(true, false, true);
        assertThat(rig.returns()).containsExactly(4);
    }

    @Test
    void failureThatNamesNoMessageFailsAll() {
        IOException closed = new IOException("the warehouse is closed");

        assertThatThrownBy(() -> rig.process(receive("", ""), claimed -> {
                    called(claimed);
                    throw closed;
                }))
                .isSameAs(closed);

        assertThat(calls).hasSize(1);
        assertThat(transaction.committed).isEmpty();
        assertThat(settle()).containsExactly(false, false);
        assertThat(rig.returns()).containsExactly(4, 4);
    }

    /** A key that cannot be stored is looked for by halves; this handler would be called for each of them. */
    @Test
    void illegalArgumentOfTheHandlersOwnFailsAllAtOnce() {
        IllegalArgumentException noQuantity = new IllegalArgumentException("no quantity");

        assertThatThrownBy(() -> rig.process(receive("", ""), claimed -> {
                    called(claimed);
                    throw noQuantity;
                }))
                .isSameAs(noQuantity);

        assertThat(calls).hasSize(1);
        assertThat(rig.asked).as("what observers are told of the claim").hasSize(1);
        assertThat(settle()).containsExactly(false, false);
    }

    @Test
    void transactionThatCannotBeginIsNotTriedForEachHalf() {
        ClaimTransaction broken = (requests, work) -> {
            transaction.asked.add(List.of());
            throw new IllegalStateException("no connection");
        };

        assertThatThrownBy(() -> rig.process(receive(broken, "", ""), this::called))
                .hasMessage("no connection");

        assertThat(transaction.asked).hasSize(1);
        assertThat(rig.asked).containsExactly("no connection");
        assertThat(settle()).containsExactly(false, false);
    }

    /** It was handled, but its group's order counts, and nothing has happened yet. */
    @Test
    void laterMessageOfAGroupDoesNotOvertakeOneThatFailed() {
        assertThatThrownBy(() -> rig.process(receive("a", "a", "b"), failing("a0", new IOException("no stock"))))
                .isInstanceOf(BatchItemFailures.class);

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

        assertThatThrownBy(() -> rig.process(receive("", ""), failing("1", new IOException("no stock"))))
                .isInstanceOf(BatchItemFailures.class);

        assertThat(calls).containsExactly(List.of("1"));
        assertThat(settle()).containsExactly(true, false);
    }

    @Test
    void duplicatesAloneAreDeletedWithoutACall() throws Throwable {
        transaction.outcomes.put("0", new AlreadyCompleted(null));
        transaction.outcomes.put("1", new AlreadyCompleted(null));

        rig.process(receive("", ""), this::called);

        assertThat(calls).isEmpty();
        assertThat(settle()).containsExactly(true, true);
    }

    @Test
    void commitThatFailsFailsAll() {
        ClaimTransaction breaking = (requests, work) -> {
            transaction.execute(requests, work);
            throw new IllegalStateException("connection reset");
        };

        assertThatThrownBy(() -> rig.process(receive(breaking, "", ""), this::called))
                .hasMessage("connection reset");

        assertThat(calls).hasSize(1);
        assertThat(settle()).containsExactly(false, false);
        assertThat(rig.returns()).containsExactly(4, 4);
    }

    @Test
    void claimsThatAloneGetNoAnswerComeAgain() throws Throwable {
        ClaimTransaction unanswered = (requests, work) -> {
            rig.breaker.answered();
            throw new ClaimStoreUnavailableException("no answer", null);
        };

        rig.process(receive(unanswered, "", ""), this::called);

        assertThat(calls).isEmpty();
        assertThat(settle()).containsExactly(false, false);
        assertThat(rig.returns()).containsExactly(4, 4);
    }

    @Test
    void messageForWhichTryingAgainIsOfNoUseIsParkedAlone() {
        doubt = new InDoubtPolicy(AbandonedPolicy.RERUN, null, List.of(IOException.class));

        assertThatThrownBy(() -> rig.process(receive("", ""), failing("0", new IOException("card expired"))))
                .isInstanceOf(BatchItemFailures.class);

        assertThat(rig.store.parkings())
                .singleElement()
                .satisfies(parking -> assertThat(parking.claim().key().key()).isEqualTo("0"));
        assertThat(transaction.committed).containsExactly(List.of("1"));
        assertThat(settle()).containsExactly(false, true);
    }

    /** One interrupt stops the run that all share, and none of them is taken for failed by itself. */
    @Test
    void stopOfOneMessageRollsAllBack() {
        doubt = new InDoubtPolicy(AbandonedPolicy.RERUN, null, List.of(Exception.class));

        assertThatThrownBy(() -> rig.process(receive("", ""), claimed -> {
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

    /** Which of them have failed by themselves is not known. */
    @Test
    void stopOfOneMessageRollsAllBackAlsoWhereTheHandlerNamesAnotherOne() {
        assertThatThrownBy(() -> rig.process(receive("", "", ""), claimed -> {
                    called(claimed);
                    deliveries.get(1).stopHandler();
                    BatchItemFailures failures = new BatchItemFailures();
                    failures.add(0, new InterruptedException());
                    failures.throwIfAny();
                }))
                .isInstanceOf(BatchItemFailures.class);

        assertThat(calls).hasSize(1);
        assertThat(transaction.committed).isEmpty();
        assertThat(settle()).containsExactly(false, false, false);
        assertThat(Thread.interrupted()).isFalse();
    }
}
