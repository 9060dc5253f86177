package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class LimitedResultsTests {

    private final ResultWriter results = new LimitedResults(Object::toString, 4);

    @Test
    void resultUpToTheLimitIsWritten() {
        assertThat(results.toJson("1234")).isEqualTo("1234");
    }

    @Test
    void largerResultIsRefusedWithSizeLimitAndProperty() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> results.toJson("12345"))
                .withMessageContaining("5 bytes")
                .withMessageContaining("exactly-once.claim.max-result-size (4 bytes)")
                .withMessageNotContaining("12345");
    }

    @Test
    void sizeIsCountedInBytes() {
        assertThat(results.toJson("éé")).isEqualTo("éé");
        assertThatIllegalArgumentException().isThrownBy(() -> results.toJson("ééé"));
    }
}
