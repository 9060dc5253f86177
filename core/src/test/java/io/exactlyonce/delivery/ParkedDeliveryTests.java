package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The log names a parked key once. Each return makes its message visible at once, so SQS soon moves the message to the
 * dead-letter queue.
 */
@ExtendWith(OutputCaptureExtension.class)
class ParkedDeliveryTests {

    private static final InDoubtSettings PARK_FOR =
            new InDoubtSettings(InDoubtPolicy.RERUN, null, List.of(IOException.class));

    private final DeliveryRig rig = new DeliveryRig();
    private final Subscription withDeadLetters = new Subscription(
            "listener",
            "orders",
            new QueueSettings(new VisibilityWindow(DeliveryRig.WINDOW), 5),
            null,
            rig.queue,
            rig.breaker);

    private void park(Delivery delivery) {
        assertThat(rig.failureOf(delivery, DeliveryRig.spec(PARK_FOR), claim -> {
                    throw new IOException("refused");
                }))
                .isInstanceOf(IOException.class);
        assertThat(rig.store.parkings()).hasSize(1);
    }

    @Test
    void attemptThatParksItsKeyLogsOneLineAndItsMessageIsVisibleAtOnce(CapturedOutput output) {
        Delivery delivery = rig.receive(withDeadLetters, "handle", 1);
        park(delivery);

        rig.assertReturned(delivery, 0);

        assertThat(output.getOut().lines().filter(line -> line.contains(" WARN ")))
                .singleElement()
                .asString()
                .contains(
                        "(receive 1)",
                        "failed with java.io.IOException (attempt 1 at " + DeliveryRig.KEY
                                + "); its key is parked until an operator decides, and its queue moves the message to"
                                + " the dead-letter queue")
                .doesNotContain("next attempt", "refused");
    }

    @Test
    void laterReceivesOfAParkedKeyAreNoNews(CapturedOutput output) throws Throwable {
        park(rig.receive(withDeadLetters, "handle", 1));
        rig.store.answer(new Parked());

        Delivery again = rig.receive(withDeadLetters, "again", 2);
        rig.process(again, DeliveryRig::neverCalled);

        rig.assertReturned(again, 0);
        assertThat(output.getOut().lines().filter(line -> line.contains(" WARN ")))
                .hasSize(1);
    }

    @Test
    void withoutADeadLetterQueueTheMessageBacksOff(CapturedOutput output) {
        Delivery delivery = rig.receive(rig.orders, "handle", 3);
        park(delivery);

        rig.assertReturned(delivery, 16);

        assertThat(output)
                .contains(
                        "is parked until an operator decides, and the message stays in its queue, which has no dead-letter queue");
    }

    @Test
    void parkingThatIsNotRecordedIsAFailureLikeAnyOther(CapturedOutput output) {
        Delivery delivery = rig.receive(withDeadLetters, "handle", 1);
        rig.store.onPark(requested -> Set.of());
        assertThat(rig.failureOf(delivery, DeliveryRig.spec(PARK_FOR), claim -> {
                    throw new IOException("refused");
                }))
                .isInstanceOf(IOException.class);

        rig.assertReturned(delivery, 4);

        assertThat(output).contains("next attempt in 4.0 s").doesNotContain("is parked until");
    }

    @Test
    void laterReceivesOfAParkedKeyAreOnlyDebugged(CapturedOutput output) throws Throwable {
        OutcomePolicy policy = new OutcomePolicy(
                new ClaimSettings("worker", null), new RetryBackoff(Duration.ofSeconds(8), Duration.ofMinutes(5)));
        Delivery second = rig.receive(withDeadLetters, "handle", 2);
        DeliveryRig.asking(second);

        assertThat(policy.decide(second, new Parked())).isEqualTo(new Disposition.Return(Duration.ZERO));
        assertThat(policy.decide(second, new Parked())).isEqualTo(new Disposition.Return(Duration.ZERO));

        assertThat(output).containsOnlyOnce("WARN").contains("is returned: orders/");
    }
}
