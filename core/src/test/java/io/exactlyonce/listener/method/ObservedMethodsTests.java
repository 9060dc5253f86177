package io.exactlyonce.listener.method;

import static io.exactlyonce.ExactlyOnceListener.CONTAINER_FACTORY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.listener.acknowledgement.Acknowledgement;
import io.awspring.cloud.sqs.listener.acknowledgement.BatchAcknowledgement;
import io.exactlyonce.CapturedOutput;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.OutputCaptureExtension;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Methods that are only observed: what enforcing would refuse runs, and is told. */
@ExtendWith(OutputCaptureExtension.class)
class ObservedMethodsTests {

    static class Listeners {
        @ExactlyOnceListener(queueNames = "orders", key = "#order")
        void fits(String order) {}

        @ExactlyOnceListener(queueNames = "orders")
        void acknowledges(String order, Acknowledgement acknowledgement) {}

        @ExactlyOnceListener(queueNames = "orders", key = "#payload")
        void acknowledgesBatch(List<String> orders, BatchAcknowledgement<String> acknowledgement) {}

        @ExactlyOnceListener(queueNames = "orders")
        void untyped(List<?> orders) {}

        @ExactlyOnceListener(queueNames = "orders")
        Future<String> future(String order) {
            throw new UnsupportedOperationException();
        }

        @ExactlyOnceListener(queueNames = "orders")
        @SqsListener(queueNames = "orders", acknowledgementMode = "ALWAYS", factory = CONTAINER_FACTORY)
        void always(String order) {}

        @ExactlyOnceListener(queueNames = "orders")
        private void hidden(String order) {}

        @ExactlyOnceListener(queueNames = "orders")
        void claims(String order, Claim claim) {}

        @ExactlyOnceListener(queueNames = "orders")
        void claimsBatch(List<String> orders, List<Claim> claims) {}

        @ExactlyOnceListener(queueNames = "orders", key = "#oder")
        void mistyped(String order) {}
    }

    static final class Final {
        @ExactlyOnceListener(queueNames = "orders")
        void handle(String order) {}
    }

    @Test
    void methodThatFitsNeedsNoWord(CapturedOutput output) {
        ContainerSettings settings = ListenerRig.observed(new Listeners(), "fits");

        assertThat(settings.isObserved()).isTrue();
        assertThat(settings.tellsItsEnd()).isTrue();
        assertThat(output).doesNotContain("only observed");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            acknowledges | false | it takes an Acknowledgement
            acknowledgesBatch | false | it takes batches of messages, and a BatchAcknowledgement besides
            untyped | false | its list does not say what the messages carry
            future | false | it returns java.util.concurrent.Future
            always | false | its acknowledgementMode is ALWAYS
            hidden | true | a private, final or static method
            """)
    void whatEnforcingRefusesIsObservedAndTold(
            String method, boolean tellsItsEnd, String problem, CapturedOutput output) {
        ContainerSettings settings = ListenerRig.observed(new Listeners(), method);

        assertThat(settings.isObserved()).isTrue();
        assertThat(settings.tellsItsEnd()).isEqualTo(tellsItsEnd);

        assertThat(output)
                .contains("It is only observed; with mode = enforce the start would be refused")
                .contains(problem);
    }

    @Test
    void finalClassIsObservedAndTold(CapturedOutput output) {
        assertThat(ListenerRig.observed(new Final(), "handle").isObserved()).isTrue();

        assertThat(output).contains("is final, of which there can be no proxy");
    }

    @ParameterizedTest
    @ValueSource(strings = {"claims", "claimsBatch"})
    void claimIsRefusedSinceThereIsNone(String method) {
        assertThatThrownBy(() -> ListenerRig.observed(new Listeners(), method))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("its mode is 'observe', and it takes a Claim")
                .hasMessageContaining("leave the parameter out");
    }

    @Test
    void keyThatCanNeverBeReadStopsTheStartAsAlways() {
        assertThatThrownBy(() -> ListenerRig.observed(new Listeners(), "mistyped"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("names the unknown argument '#oder'");
    }
}
