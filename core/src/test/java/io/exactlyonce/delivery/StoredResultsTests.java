package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.Serializable;
import java.math.BigDecimal;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class StoredResultsTests {

    @Test
    void largerResultIsRefusedWithSizeLimitAndProperty() {
        StoredResults results = new StoredResults(TestResults.NONE, 4);

        assertThat(results.write("éé")).isEqualTo("éé");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> results.write("ééo"))
                .withMessageContaining("5 bytes")
                .withMessageContaining("exactly-once.claim.max-result-size (4 bytes)")
                .withMessageNotContaining("ééo");
    }

    static List<Class<?>> lossy() {
        return List.of(
                List.class,
                Set.class,
                Map.class,
                Collection.class,
                Iterable.class,
                Optional.class,
                ArrayList.class,
                Page.class,
                List[].class,
                List[][].class,
                Comparable.class,
                Object.class,
                Object[].class,
                Number.class,
                Number[].class,
                Serializable.class);
    }

    record Page<T>(T first) {}

    static final class Lines extends ArrayList<String> {
        private static final long serialVersionUID = 1;
    }

    @ParameterizedTest
    @MethodSource("lossy")
    void typeWhoseValuesAreReadBackAsOthersIsRefusedWithARemedy(Class<?> type) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new StoredResults(TestResults.NONE, 4).requireReadable(type))
                .withMessageContaining(type.getTypeName())
                .withMessageMatching(".*(return a record|name their class).*");
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                Void.class,
                void.class,
                int.class,
                Integer.class,
                BigDecimal.class,
                String.class,
                byte[].class,
                String[].class,
                Lines.class,
                ZonedDateTime.class,
                OptionalInt.class,
                Thread.State.class
            })
    void typeThatSaysWhatItsValuesAreIsTaken(Class<?> type) {
        assertThatCode(() -> new StoredResults(TestResults.NONE, 4).requireReadable(type))
                .doesNotThrowAnyException();
    }

    /** PostgreSQL's driver would store question marks for half a surrogate pair, DynamoDB's client refuses it, and PostgreSQL stores no NUL. */
    @Test
    void whatCannotBeStoredIsWrittenInAscii() {
        StoredResults results = new StoredResults(TestResults.NONE, 100);

        assertThat(results.write("\"a\uD83Db\uDCE6\uD83D\uDCE6\"")).isEqualTo("\"a\\ud83db\\udce6\uD83D\uDCE6\"");
        assertThat(results.write("\"a\0b\"")).isEqualTo("\"a\\u0000b\"");
    }
}
