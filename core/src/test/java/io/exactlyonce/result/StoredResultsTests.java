package io.exactlyonce.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.StoredResultException;
import io.exactlyonce.claim.ClaimKey;
import java.io.Serializable;
import java.lang.reflect.Type;
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
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.ParameterizedTypeReference;

@ExtendWith(OutputCaptureExtension.class)
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

    interface Named<T> {
        List<T> lines();
    }

    static List<ParameterizedTypeReference<?>> generic() throws NoSuchMethodException {
        return List.of(
                new ParameterizedTypeReference<List<Object>>() {},
                new ParameterizedTypeReference<List<?>>() {},
                new ParameterizedTypeReference<List<? super String>>() {},
                new ParameterizedTypeReference<Map<String, Number>>() {},
                new ParameterizedTypeReference<List<List<Object>>>() {},
                new ParameterizedTypeReference<List<Object>[]>() {},
                new ParameterizedTypeReference<Optional<Page<Serializable>>>() {},
                new ParameterizedTypeReference<List<Comparable<?>>>() {},
                ParameterizedTypeReference.forType(
                        Named.class.getMethod("lines").getGenericReturnType()));
    }

    @ParameterizedTest
    @MethodSource("generic")
    void typeWhoseArgumentsDoNotSayWhatItsElementsAreIsRefused(ParameterizedTypeReference<?> type) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new StoredResults(TestResults.NONE, 4).requireReadable(type.getType()))
                .withMessageContaining(type.getType().getTypeName())
                .withMessageMatching(".*(name their class|name its class|as in new ParameterizedTypeReference).*");
    }

    static List<ParameterizedTypeReference<?>> complete() {
        return List.of(
                new ParameterizedTypeReference<List<String>>() {},
                new ParameterizedTypeReference<List<? extends String>>() {},
                new ParameterizedTypeReference<Map<String, List<Long>>>() {},
                new ParameterizedTypeReference<List<String>[]>() {},
                new ParameterizedTypeReference<Page<int[]>>() {},
                new ParameterizedTypeReference<String>() {});
    }

    @ParameterizedTest
    @MethodSource("complete")
    void typeWhoseArgumentsSayWhatItsElementsAreIsTaken(ParameterizedTypeReference<?> type) {
        assertThatCode(() -> new StoredResults(TestResults.NONE, 4).requireReadable(type.getType()))
                .doesNotThrowAnyException();
    }

    static final class Lines extends ArrayList<String> {
        private static final long serialVersionUID = 1;
    }

    @ParameterizedTest
    @MethodSource("lossy")
    void typeWhoseValuesAreReadBackAsOthersIsRefusedWithARemedy(Class<?> type) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new StoredResults(TestResults.NONE, 4).requireReadable(type))
                .withMessageContaining(type.getTypeName())
                .withMessageMatching(".*(as in new ParameterizedTypeReference|name their class).*");
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
    void typeThatNamesTheTypesOfItsValuesIsTaken(Class<?> type) {
        assertThatCode(() -> new StoredResults(TestResults.NONE, 4).requireReadable(type))
                .doesNotThrowAnyException();
    }

    /**
     * PostgreSQL refuses NUL. DynamoDB's client refuses half a surrogate pair, and PostgreSQL's driver would replace it
     * by a question mark.
     */
    @Test
    void whatCannotBeStoredIsWrittenInAscii() {
        StoredResults results = new StoredResults(TestResults.NONE, 100);

        assertThat(results.write("\"a\uD83Db\uDCE6\uD83D\uDCE6\"")).isEqualTo("\"a\\ud83db\\udce6\uD83D\uDCE6\"");
        assertThat(results.write("\"a\0b\"")).isEqualTo("\"a\\u0000b\"");
    }

    /**
     * The exception of a serializer may quote a sender's text, and a line break in that text would forge a log line.
     */
    @Test
    void failureOfASerializerIsLoggedByTypeOnly(CapturedOutput output) {
        ResultSerializer quoting = new ResultSerializer() {
            @Override
            public String toJson(Object result) {
                throw new IllegalStateException("cannot write 4111\nWARN forged");
            }

            @Override
            public Object fromJson(String json, Type type) {
                throw new IllegalStateException(json);
            }
        };
        StoredResults results = new StoredResults(quoting, 100);

        StoredResultException failure = results.keep(
                        new ClaimKey("orders", "A-1"), "4111", ParameterizedTypeReference.forType(String.class))
                .failure();

        assertThat(failure).isNotNull();
        assertThat(NestedExceptionUtils.getMostSpecificCause(failure)).hasMessage("java.lang.IllegalStateException");
        assertThat(output.getOut().lines().filter(line -> line.contains("cannot be kept as JSON")))
                .singleElement()
                .asString()
                .contains("(java.lang.IllegalStateException)");
        assertThat(output.getOut()).doesNotContain("4111", "forged");
    }
}
