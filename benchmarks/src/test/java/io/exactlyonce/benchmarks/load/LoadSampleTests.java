package io.exactlyonce.benchmarks.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LoadSampleTests {

    @Test
    void userNiceSystemAndStolenTimeAreBusyAndGuestsAreNotCountedTwice() {
        LoadSample sample = LoadSample.of("cpu  100 10 20 1000 5 3 2 7 50 9", 42);

        assertThat(sample).isEqualTo(new LoadSample(1_147, 137, 42));
    }

    @Test
    void whatIsNotOurOwnComesFromElsewhere() {
        LoadSample before = new LoadSample(1_000, 500, 300);
        LoadSample after = new LoadSample(1_200, 650, 430);

        assertThat(after.elsewherePercentSince(before)).isEqualTo(10);
    }

    @Test
    void clocksThatDisagreeDoNotMakeALoadBelowNothing() {
        LoadSample before = new LoadSample(1_000, 500, 300);
        LoadSample after = new LoadSample(1_200, 600, 401);

        assertThat(after.elsewherePercentSince(before)).isZero();
    }

    @Test
    void withoutTheKernelsCountersTheLoadIsUnknown() {
        LoadSample none = new LoadSample(0, 0, 0);

        assertThat(none.elsewherePercentSince(none)).isNaN();
    }
}
