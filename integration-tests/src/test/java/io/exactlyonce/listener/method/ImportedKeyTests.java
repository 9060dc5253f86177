package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.listener.expression.KeyExpression;
import io.exactlyonce.testing.DocumentedCode;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.messaging.support.GenericMessage;

/** The key expression of {@code docs/adopt.md} that makes the keys that Powertools has recorded. */
class ImportedKeyTests {

    record Order(String orderId) {}

    static class Listener {
        void fulfil(Order order) {}
    }

    /** The hashes come from Powertools' BasePersistenceStoreTest, at the commit that the document names. */
    @Test
    void keyExpressionMakesTheHashOfPowertools() {
        String attribute = DocumentedCode.of("adopt.md").block("key").split("key = ", 2)[1];
        String expression = Pattern.compile("\"([^\"]*)\"")
                .matcher(attribute)
                .results()
                .map((MatchResult literal) -> literal.group(1))
                .collect(Collectors.joining());
        KeyExpression key = ListenerRig.key(expression, ListenerRig.method(Listener.class, "fulfil"));

        assertThat(key.evaluate(new GenericMessage<>(new Order("Lambda rocks"))))
                .isEqualTo("fulfilment.process#70c24d88041893f7fbab4105b76fd9e1");
        assertThat(key.evaluate(new GenericMessage<>(new Order("256.42"))))
                .isEqualTo("fulfilment.process#bb84c94278119c8838649706df4db42b");
    }
}
