package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.renewal.RenewalObserver.Result;
import io.exactlyonce.time.SystemClockwork;
import io.exactlyonce.visibility.QueueVisibility;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The JVM or its machine is paused. */
@ExtendWith(OutputCaptureExtension.class)
class RenewalPauseTests {

    private final RenewalRig rig = RenewalRig.renewing();

    @Test
    void ticksInTimeAreNoPause() {
        rig.start(1);

        rig.tickFor(Duration.ofSeconds(10));

        assertThat(rig.pauses).isEmpty();
    }

    @Test
    void tickThatIsASecondLateIsToldWithItsLength(CapturedOutput output) {
        rig.start(60);

        rig.clock.advance(Duration.ofMillis(1_099));
        rig.renewer.tick();
        assertThat(rig.pauses).isEmpty();

        rig.clock.advance(Duration.ofMillis(3_600));
        rig.renewer.tick();
        rig.tickFor(Duration.ofSeconds(1));

        assertThat(rig.pauses).containsExactly(Duration.ofMillis(3_500));
        assertThat(output).contains("Renewals were paused for 3500 ms, with 1 deliveries in flight");
    }

    @Test
    void quarterOfAShortWindowIsAPauseToo() {
        rig.start(60);
        rig.start(2);

        rig.clock.advance(Duration.ofMillis(599));
        rig.renewer.tick();
        assertThat(rig.pauses).isEmpty();

        rig.clock.advance(Duration.ofMillis(600));
        rig.renewer.tick();
        assertThat(rig.pauses).containsExactly(Duration.ofMillis(500));
    }

    @Test
    void quarterOfTheShortestWindowIsAPauseToo() {
        rig.start(1);

        rig.clock.advance(Duration.ofMillis(349));
        rig.renewer.tick();
        assertThat(rig.pauses).isEmpty();

        rig.clock.advance(Duration.ofMillis(350));
        rig.renewer.tick();
        assertThat(rig.pauses).containsExactly(Duration.ofMillis(250));
    }

    @Test
    void timeBeforeTheTicksBeginIsNoPause() {
        rig.clock.advance(Duration.ofMinutes(1));

        rig.renewer.begin(new SystemClockwork(), "ticks").close();
        rig.tickFor(Duration.ofSeconds(1));

        assertThat(rig.pauses).isEmpty();
    }

    /** Trap: past its deadline a receipt handle still works, and would act on another consumer's message. */
    @Test
    void windowsThatEndedInThePauseAreAbandonedAtOnceAndTheOthersRenewed() {
        Window ended = rig.start(10);
        Window lasting = rig.start(60);

        rig.clock.advance(Duration.ofSeconds(31));
        rig.renewer.tick();

        assertThat(rig.pauses).hasSize(1);
        assertThat(rig.windowResults).containsExactlyInAnyOrder(Result.LOST, Result.SUCCEEDED);
        assertThat(rig.queue.changes())
                .extracting(QueueVisibility.Change::seconds)
                .containsExactly(60);
        RenewalRig.returnAfter(ended, Duration.ZERO);
        assertThat(rig.queue.requests()).hasSize(1);
        RenewalRig.returnAfter(lasting, Duration.ZERO);
        assertThat(rig.queue.requests()).hasSize(2);
    }
}
