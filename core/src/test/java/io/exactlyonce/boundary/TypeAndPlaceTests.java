package io.exactlyonce.boundary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.core.MethodParameter;
import org.springframework.messaging.MessageHandlingException;
import org.springframework.messaging.handler.annotation.support.MethodArgumentNotValidException;
import org.springframework.messaging.support.GenericMessage;
import org.springframework.validation.BeanPropertyBindingResult;
import org.springframework.validation.FieldError;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Tests that a failure is described without content of the message. */
class TypeAndPlaceTests {

    record Line(int amount, Map<String, Integer> by) {}

    record Order(List<Line> lines, Map<String, Line> extra) {}

    private static final JsonMapper JSON = new JsonMapper();

    private static Throwable unreadable(String json) {
        return catchThrowable(() -> JSON.readValue(json, Order.class));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            {"lines": [{"amount": 1}, {"amount": "card-4711"}]}          | at $.lines[1].amount
            {"lines": [{"by": {"card-4711": "card-4712"}}]}              | at $.lines[0].by.*
            {"extra": {"card-4711": {"amount": "card-4712"}}}            | at $.extra.*.amount
            {"lines": "card-4711"}                                       | at $.lines
            card-4711                                                    | at line 1, column
            """)
    void placeOfContentIsShownWithoutItOrAKey(String json, String place) {
        assertThat(TypeAndPlace.of(new IllegalStateException("card-4713", unreadable(json))))
                .startsWith("tools.jackson.")
                .contains(place)
                .doesNotContain("card", "471");
    }

    /** The sender has chosen such a name. */
    @ParameterizedTest
    @CsvSource({"card 4711", "card.4711", "'4711\n4712'"})
    void nameThatIsNoFieldsIsLeftOut(String name) {
        JsonMapper strict = JsonMapper.builder()
                .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .build();
        String json = JSON.writeValueAsString(Map.of(name, 1));

        Throwable unknown = catchThrowable(() -> strict.readValue(json, Order.class));

        assertThat(TypeAndPlace.of(unknown)).endsWith(" at $.*").doesNotContain("4711");
    }

    @Test
    void placeOfLimitedDepthIsShown() {
        String deep = "{\"next\":".repeat(30) + "7" + "}".repeat(30);

        assertThat(TypeAndPlace.of(catchThrowable(() -> JSON.readValue(deep, Node.class))))
                .endsWith(" at $" + ".next".repeat(10));
    }

    record Node(Node next) {}

    @Test
    void fieldsThatAreNotValidAreNamedWithoutTheirValuesAndKeys() throws NoSuchMethodException {
        var binding = new BeanPropertyBindingResult(new Order(List.of(), Map.of()), "order");
        binding.addError(field("lines[3].amount", "Min"));
        binding.addError(field("extra[a]b[c].amount", "Max"));
        binding.addError(field("extra[card].amount", "Max"));
        Method method = TypeAndPlaceTests.class.getDeclaredMethod("unreadable", String.class);
        var invalid = new MethodArgumentNotValidException(
                new GenericMessage<>("card-4711"), new MethodParameter(method, 0), binding);

        assertThat(TypeAndPlace.of(invalid))
                .isEqualTo(MethodArgumentNotValidException.class.getName()
                        + " at extra[*].amount (Max), lines[*].amount (Min)");
    }

    private static FieldError field(String name, String code) {
        return new FieldError("order", name, "card-4711", false, new String[] {code}, null, "rejected card-4711");
    }

    @Test
    void missingHeaderIsNamed() {
        String text = "Missing header 'tenant' for method parameter type [card-4711]";

        assertThat(TypeAndPlace.of(new MessageHandlingException(new GenericMessage<>("card-4712"), text)))
                .isEqualTo("the header 'tenant' is missing");
        assertThat(TypeAndPlace.of(new IllegalStateException(text))).isEqualTo("java.lang.IllegalStateException");
    }

    @Test
    void otherFailureHasTheTypeOfItsLastCause() {
        assertThat(TypeAndPlace.of(new IllegalStateException("card-4711", new IOException("card-4712"))))
                .isEqualTo("java.io.IOException");
    }
}
