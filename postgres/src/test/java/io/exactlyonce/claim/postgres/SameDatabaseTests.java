package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimKey;
import org.junit.jupiter.api.Test;

class SameDatabaseTests {

    @Test
    void numberOfALockIsTheFirstEightBytesOfTheHash() {
        ClaimKey key = new ClaimKey("orders", "A-1");

        assertThat(key.downstreamKey()).startsWith("%016x".formatted(SameDatabase.number(key)));
    }
}
