package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Mismatch;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.fingerprint.Content;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(OutputCaptureExtension.class)
class MismatchTests {

    private static final String BODY = "4242 4242 4242 4242";

    private final DeliveryRig rig = new DeliveryRig();
    private final Delivery delivery = rig.receive();
    private final ClaimSpec handling = new ClaimSpec(DeliveryRig.KEY, Content.ofBody(BODY), InDoubtSettings.RERUN);

    @Test
    void refusedMismatchIsNeitherHandledNorAcknowledgedAndReportsHashesOnly(CapturedOutput output) throws Throwable {
        rig.store.answer(new Mismatch("1"));

        assertThat(rig.process(delivery, handling, DeliveryRig::neverCalled)).isNull();

        rig.assertReturned(delivery, 4);
        assertThat(output)
                .contains(
                        "ERROR",
                        DeliveryRig.KEY.toString(),
                        "set fingerprint of @ExactlyOnceListener to the content that stays the same",
                        "exactly-once.listeners.listener.on-mismatch")
                .doesNotContain(BODY, ClaimKey.sha256(BODY), "A-1");
    }

    @Test
    void mismatchIsADuplicateWithAWarningIfThatIsWanted(CapturedOutput output) throws Throwable {
        rig.onMismatch(MismatchPolicy.WARN).store.answer(new Mismatch("1"));

        rig.process(delivery, handling, DeliveryRig::neverCalled);

        assertThat(rig.settle(delivery)).isTrue();
        assertThat(output)
                .contains("WARN", DeliveryRig.KEY.toString())
                .doesNotContain(BODY, ClaimKey.sha256(BODY), "ERROR");
    }

    @Test
    void listenersOwnSettingsHoldForItAlone(CapturedOutput output) throws Throwable {
        Duration lease = Duration.ofMinutes(2);
        Duration retention = Duration.ofDays(30);
        DeliveryRig two = new DeliveryRig()
                .own(
                        "limited",
                        new OutcomePolicy(
                                new ClaimSettings("worker", lease, retention, MismatchPolicy.WARN, UUID::randomUUID),
                                new RetryBackoff(Duration.ofMinutes(1), Duration.ofMinutes(5), () -> 0)));
        Delivery usual = two.receive();
        Delivery limited = two.receive(two.limited(Duration.ofMinutes(5)), "limited", 1);
        Delivery parked = two.receive(two.limited(Duration.ofMinutes(5)), "parked", 1);
        two.store.answer(new Mismatch("1"), new Mismatch("1"), new Parked());

        two.process(limited, handling, DeliveryRig::neverCalled);
        two.process(usual, handling, DeliveryRig::neverCalled);
        two.process(parked, handling, DeliveryRig::neverCalled);

        assertThat(two.settle(limited)).isTrue();
        two.assertReturned(usual, 4);
        two.assertReturned(parked, 4, 30);
        assertThat(two.store.claims())
                .extracting(ClaimRequest::lease)
                .containsExactly(lease, Duration.ofSeconds(20), lease);
        assertThat(two.store.claims()).extracting(ClaimRequest::retention).containsExactly(retention, null, retention);
        assertThat(output).contains("is treated as a duplicate").contains("fingerprint of @ExactlyOnceListener");
    }

    @Test
    void policyOfTheListenersAnnotationPrecedesThatOfAll() throws Throwable {
        ClaimSpec off =
                new ClaimSpec(DeliveryRig.KEY, Content.ofBody(BODY), InDoubtSettings.RERUN, null, MismatchPolicy.OFF);
        ClaimSpec refused = new ClaimSpec(
                DeliveryRig.KEY, Content.ofBody(BODY), InDoubtSettings.RERUN, null, MismatchPolicy.REFUSE);
        rig.onMismatch(MismatchPolicy.WARN).store.answer(new Mismatch("1"));

        rig.process(delivery, refused, DeliveryRig::neverCalled);
        rig.process(rig.receive(), off, claim -> null);

        rig.assertReturned(delivery, 4);
        assertThat(rig.store.claims())
                .extracting(ClaimRequest::fingerprint)
                .containsExactly(ClaimKey.sha256(BODY), null);
    }

    @Test
    void payloadIsClaimedByItsFingerprintUnlessPayloadsAreNotCompared() throws Throwable {
        rig.process(delivery, handling, claim -> null);
        rig.onMismatch(MismatchPolicy.WARN).process(rig.receive(), handling, claim -> null);
        rig.onMismatch(MismatchPolicy.OFF).process(rig.receive(), handling, claim -> null);

        assertThat(rig.store.claims())
                .extracting(ClaimRequest::fingerprint)
                .containsExactly(ClaimKey.sha256(BODY), ClaimKey.sha256(BODY), null);
    }
}
