package io.exactlyonce.dynamodb.item;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

class ClaimItemTests {

    @Test
    void itemOfAnotherProgramIsDetectedByWhatItLacks() {
        ClaimItem strange =
                new ClaimItem(Map.of("pk", AttributeValue.fromS("order-1"), "attempt", AttributeValue.fromS("first")));

        assertThatThrownBy(strange::status)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("order-1")
                .hasMessageContaining("status");
        assertThatThrownBy(strange::attempt)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("attempt");
        assertThatThrownBy(strange::version)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(" no w;");
    }

    @Test
    void reasonThatWasNotWrittenIsUnknown() {
        ClaimItem parked = new ClaimItem(Map.of(
                "scope", AttributeValue.fromS("orders"),
                "key", AttributeValue.fromS("order-1"),
                "claim_id", AttributeValue.fromS("00000000-0000-0000-0000-000000000001"),
                "attempt", AttributeValue.fromN("1"),
                "parked_at", AttributeValue.fromS("0000000000000000001#hash")));

        assertThat(parked.parked().reason()).isEqualTo("unknown");
    }

    /** Instances of an application may run in different locales, and must write sort keys with the same digits. */
    @Test
    void orderOfParkedItemsHasTheSameDigitsInEachLocale() {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag("ar-EG"));
        try {
            assertThat(ClaimItem.parkedOrder(42, "hash")).isEqualTo("0000000000000000042#hash");
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void textShowsNeitherKeyNorResult() {
        assertThat(new ClaimItem(Map.of(
                                "pk", AttributeValue.fromS("hash"),
                                "key", AttributeValue.fromS("secret"),
                                "result", AttributeValue.fromS("secret")))
                        .toString())
                .contains("hash")
                .doesNotContain("secret");
    }
}
