package io.exactlyonce.claim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ClaimIdGeneratorTests {

    private final AtomicLong clock = new AtomicLong();
    private final ClaimIdGenerator ids = new ClaimIdGenerator(clock::get);

    @Test
    void noIdentityComesTwiceAlsoWithManyThreads() {
        List<UUID> made =
                IntStream.range(0, 100_000).parallel().mapToObj(i -> ids.next()).toList();

        assertThat(made).doesNotHaveDuplicates();
    }

    /**
     * Processes that are restored from one image start with the same counter and the same random bits. Only the clock
     * makes their ids different.
     */
    @Test
    void clockIsInTheHalfThatIsNotCounted() {
        long before = ids.next().getMostSignificantBits();
        clock.incrementAndGet();

        assertThat(ids.next().getMostSignificantBits()).isNotEqualTo(before);
    }

    /** A bit that does not depend on the clock would be equal in all processes that are restored from one image. */
    @Test
    void allBitsOfThatHalfButTheVersionDependOnTheClock() {
        long ever = 0;
        long always = -1;
        for (int i = 0; i < 1_000; i++) {
            clock.incrementAndGet();
            long bits = ids.next().getMostSignificantBits();
            ever |= bits;
            always &= bits;
        }

        assertThat(Long.toHexString(ever)).isEqualTo("ffffffffffff8fff");
        assertThat(Long.toHexString(always)).isEqualTo("8000");
    }
}
