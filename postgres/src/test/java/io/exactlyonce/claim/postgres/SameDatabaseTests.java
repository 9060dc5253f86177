package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimKey;
import java.util.List;
import org.junit.jupiter.api.Test;

class SameDatabaseTests {

    @Test
    void numberOfALockIsTheFirstEightBytesOfTheHash() {
        ClaimKey key = new ClaimKey("orders", "A-1");

        assertThat(key.hash()).startsWith("%016x".formatted(SameDatabase.number(key)));
    }

    @Test
    void numbersOfBothSignsOccur() {
        List<Long> numbers = List.of("A-1", "A-2", "A-3", "A-4", "A-5", "A-6", "A-7", "A-8").stream()
                .map(key -> SameDatabase.number(new ClaimKey("orders", key)))
                .toList();

        assertThat(numbers)
                .doesNotHaveDuplicates()
                .anyMatch(number -> number < 0)
                .anyMatch(number -> number > 0);
    }
}
