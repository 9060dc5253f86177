package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class BatchReplyTests {

    private static final ClaimKey KEY = new ClaimKey("orders", "1");

    @Test
    void endThatNoRowSpeaksOfMustHaveBeenCounted() {
        ClaimEnd end = new ClaimEnd.Completed(new ClaimId(KEY, UUID.randomUUID()), null);

        assertThatThrownBy(new BatchReply(List.of(end), List.of())::complete)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("PostgreSQL answered 0 of 1 ends of a batch");
    }

    @Test
    void claimThatNoRowSpeaksOfMustHaveBeenCounted() {
        ClaimRequest claim = new ClaimRequest(KEY, UUID.randomUUID(), "worker", Duration.ofMinutes(1));

        assertThatThrownBy(new BatchReply(List.of(), List.of(claim))::complete)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("PostgreSQL answered 0 of 1 claims of a batch");
    }
}
