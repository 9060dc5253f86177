package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.queue.QueueVisibility;
import io.exactlyonce.renewal.RenewalEvent.Result;
import io.exactlyonce.time.SystemScheduler;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Renewals after a pause of the JVM or its machine. */
@ExtendWith(OutputCaptureExtension.class)
class RenewalPauseTests {

    private final RenewalRig rig = RenewalRig.renewing();

    @Test
    void tickThatIsASecondLateIsReportedWithItsLength(CapturedOutput output) {
        rig.start(60);

        rig.advance(Duration.ofMillis(1_099));
        assertThat(rig.pauses).isEmpty();

        rig.advance(Duration.ofMillis(3_600));
        rig.tickFor(Duration.ofSeconds(1));

        assertThat(rig.pauses).containsExactly(Duration.ofMillis(3_500));
        assertThat(output).contains("Renewals were paused for 3500 ms, with 1 deliveries in flight");
    }

    @ParameterizedTest
    @CsvSource({"2, 500", "1, 250"})
    void quarterOfAShortVisibilityTimeoutIsAPauseToo(long shortest, long pause) {
        rig.start(60);
        rig.start(shortest);

        rig.advance(Renewer.TICK.plusMillis(pause - 1));
        assertThat(rig.pauses).isEmpty();

        rig.advance(Renewer.TICK.plusMillis(pause));
        assertThat(rig.pauses).containsExactly(Duration.ofMillis(pause));
    }

    @Test
    void timeBeforeTheTicksBeginIsNoPause() {
        rig.clock.advance(Duration.ofMinutes(1));

        rig.renewer.begin(new SystemScheduler(), "ticks").close();
        rig.tickFor(Duration.ofSeconds(1));

        assertThat(rig.pauses).isEmpty();
    }

    /** Trap: a receipt handle still works after the deadline, and would then change another consumer's message. */
    @Test
    void visibilityTimeoutsThatEndedInThePauseAreAbandonedAtOnceAndTheOthersRenewed() {
        MessageVisibility ended = rig.start(10);
        MessageVisibility lasting = rig.start(60);

        rig.advance(Duration.ofSeconds(31));

        assertThat(rig.pauses).hasSize(1);
        assertThat(rig.visibilityResults).containsExactlyInAnyOrder(Result.LOST, Result.SUCCEEDED);
        RenewalRig.returnAfter(ended, Duration.ZERO);
        RenewalRig.returnAfter(lasting, Duration.ZERO);
        assertThat(rig.queue.changes())
                .extracting(QueueVisibility.Change::seconds)
                .containsExactly(60, 0);
    }
}
