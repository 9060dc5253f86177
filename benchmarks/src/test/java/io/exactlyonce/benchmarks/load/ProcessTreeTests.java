package io.exactlyonce.benchmarks.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ProcessTreeTests {

    /**
     * A line in the format of proc(5): fields 14 to 17 are the times; the program's name contains spaces and
     * brackets.
     */
    private static final String STAT = "42 (a (bad) name) S 1 42 42 0 -1 4194560 3 4 5 6 100 20 30 4 20 0 1 0 99 1 1";

    @Test
    void userAndSystemTimeOfAProcessAndItsEndedChildrenAreSummed() {
        assertThat(ProcessTree.ticks(STAT)).isEqualTo(154);
    }

    @Test
    void workOfThisProcessShows() {
        ProcessTree self = new ProcessTree(ProcessHandle.current().pid());
        Duration before = self.processorTime();
        long ownBefore = ProcessTree.ownTicks();

        long end = System.nanoTime() + Duration.ofMillis(300).toNanos();
        long work = 0;
        while (end - System.nanoTime() > 0) {
            work++;
        }

        assertThat(work).isPositive();
        assertThat(self.processorTime()).isGreaterThan(before);
        assertThat(ProcessTree.ownTicks()).isGreaterThan(ownBefore);
    }

    @Test
    void processThatHasEndedTakesNoTime() throws Exception {
        Process ended = new ProcessBuilder("true").start();
        ended.waitFor();

        assertThat(new ProcessTree(ended.pid()).processorTime()).isZero();
    }
}
