package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.math.BigInteger;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.DefaultTyping;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;

class JacksonResultSerializerTests {

    record Receipt(String id, List<Integer> amounts) {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.CLASS)
    interface Named {}

    record Harmful(String command) implements Named {}

    private final JacksonResultSerializer results = new JacksonResultSerializer(new JsonMapper());

    @Test
    void resultIsReadAsWhatItWas() throws Exception {
        Receipt receipt = new Receipt("r1", List.of(1, 2));

        String json = results.toJson(receipt);

        assertThat(json).isEqualTo("{\"id\":\"r1\",\"amounts\":[1,2]}");
        assertThat(results.fromJson(json, Receipt.class)).isEqualTo(receipt);
        assertThat(results.fromJson(
                        "[1,2]", Receipt.class.getDeclaredMethod("amounts").getGenericReturnType()))
                .isEqualTo(List.of(1, 2));
    }

    /** The stored text names no class, even if the application's own mapper permits class names. */
    @Test
    void storedTextNamesNoClass() {
        BasicPolymorphicTypeValidator anything = BasicPolymorphicTypeValidator.builder()
                .allowIfBaseType(Object.class)
                .build();
        JsonMapper lax = JsonMapper.builder()
                .activateDefaultTyping(anything, DefaultTyping.NON_FINAL)
                .build();
        JacksonResultSerializer guarded = new JacksonResultSerializer(lax);
        String named = "{\"@class\":\"%s\",\"command\":\"x\"}".formatted(Harmful.class.getName());

        assertThatThrownBy(() -> guarded.fromJson(named, Named.class)).isInstanceOf(JacksonException.class);
        assertThat(guarded.fromJson("[\"%s\",{\"command\":\"x\"}]".formatted(Harmful.class.getName()), Object.class))
                .isInstanceOf(List.class);
        assertThat(guarded.toJson(new Receipt("r1", List.of()))).doesNotContain(Receipt.class.getName());
    }

    /**
     * An attacker may write to the table, or make a handler return the attacker's input. The worst result is an
     * exception.
     */
    @ParameterizedTest
    @MethodSource("hostileJson")
    void hostileTextIsRefused(String json) {
        assertThatThrownBy(() -> results.fromJson(json, Receipt.class)).isInstanceOf(JacksonException.class);
        assertThatThrownBy(() -> results.fromJson(json, new TypeReference<List<BigInteger>>() {}.getType()))
                .isInstanceOf(JacksonException.class);
    }

    static List<String> hostileJson() {
        return List.of(
                "",
                "\0",
                "{",
                "[".repeat(100_000),
                "{\"id\":".repeat(100_000),
                "{\"id\":{\"id\":{}}}",
                "[" + "9".repeat(2_000) + "]",
                "[1e1000000000]",
                "[{\"@class\":\"%s\"}]".formatted(Harmful.class.getName()),
                "[\"%s\",{}]".formatted(Harmful.class.getName()),
                "{\"id\":\"\\uZZZZ\"}",
                "{\"amounts\":[1e400]}");
    }
}
