package io.exactlyonce.benchmarks.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.exactlyonce.benchmarks.load.RepeatRule.Attempts;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

class RepeatRuleTests {

    private final RepeatRule rule = new RepeatRule(10, 2);
    private final Deque<LoadSample> samples = new ArrayDeque<>();
    private int taken;

    @Test
    void turnOnAQuietMachineIsTakenOnce() throws Exception {
        Attempts<Integer> turn = take(rule, 10);

        assertThat(turn.all()).hasSize(1);
        assertThat(turn.counted().reading()).isEqualTo(1);
        assertThat(turn.loads()).isEqualTo("10");
    }

    @Test
    void turnOnABusyMachineIsTakenAgainAndTheQuietOneCounts() throws Exception {
        Attempts<Integer> turn = take(rule, 30, 4);

        assertThat(turn.counted().reading()).isEqualTo(2);
        assertThat(turn.loads()).isEqualTo("(30) 4");
    }

    @Test
    void onAMachineThatStaysBusyTheLeastDisturbedOfABoundedNumberCounts() throws Exception {
        Attempts<Integer> turn = take(rule, 50, 20, 40, 0);

        assertThat(turn.all()).hasSize(3);
        assertThat(turn.counted().reading()).isEqualTo(2);
        assertThat(turn.loads()).isEqualTo("(50) 20 (40)");
    }

    @Test
    void nothingIsRepeatedWhereNothingIsKnown() throws Exception {
        LoadSample unknown = new LoadSample(0, 0, 0);

        assertThat(rule.take(() -> ++taken, () -> unknown).all()).hasSize(1);
    }

    @Test
    void neverMeansNever() throws Exception {
        assertThat(take(RepeatRule.NEVER, 100, 0).all()).hasSize(1);
    }

    @Test
    void negativeFiguresAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new RepeatRule(-1, 2))
                .withMessageContaining("bench.busy-percent (-1.0)");
    }

    /**
     * Takes a turn with several attempts. During each attempt, other processes use the given percentage of the machine.
     */
    private Attempts<Integer> take(RepeatRule applied, long... percents) throws Exception {
        List<LoadSample> all = new ArrayList<>();
        long busy = 0;
        for (int attempt = 0; attempt < percents.length; attempt++) {
            all.add(new LoadSample(100L * attempt, busy, 0));
            busy += percents[attempt];
            all.add(new LoadSample(100L * (attempt + 1), busy, 0));
        }
        samples.addAll(all);
        return applied.take(() -> ++taken, samples::remove);
    }
}
