package io.exactlyonce.observe;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.GlobalObservationConvention;
import io.micrometer.observation.Observation;
import io.micrometer.observation.transport.ReceiverContext;
import java.util.Optional;
import org.springframework.messaging.Message;

/**
 * Gives the observation of a message that our listeners get OpenTelemetry's names: {@code messaging.process.duration}, and the
 * attributes of its <a href="https://opentelemetry.io/docs/specs/semconv/messaging/messaging-metrics/">semantic conventions for
 * messaging</a>. Awspring, which makes that observation, gives it older ones: {@code messaging.operation} and {@code
 * messaging.source.name}. A convention of the application's own among the options of a container comes first.
 *
 * <p>The names are still marked <em>Development</em> there: they may change with a release of the conventions, which is why
 * they are literals here, and off by default.
 */
public final class MessagingConvention implements GlobalObservationConvention<ReceiverContext<?>> {

    static final String PROCESS_DURATION = "messaging.process.duration";

    private static final KeyValue SYSTEM = KeyValue.of("messaging.system", "aws_sqs");
    private static final String OPERATION_TYPE = "messaging.operation.type";
    private static final String OPERATION_NAME = "messaging.operation.name";
    private static final String DESTINATION = "messaging.destination.name";
    private static final String MESSAGE_ID = "messaging.message.id";
    private static final String ERROR_TYPE = "error.type";

    /** What is done with a message, as OpenTelemetry tells it apart. */
    enum Operation {
        RECEIVE("receive"),
        PROCESS("process"),
        SETTLE("settle");

        private final String type;

        Operation(String type) {
            this.type = type;
        }
    }

    /** Returns the attributes of few values. */
    static KeyValues describe(Operation operation, Delivery delivery) {
        return KeyValues.of(
                SYSTEM,
                KeyValue.of(OPERATION_TYPE, operation.type),
                KeyValue.of(OPERATION_NAME, operation.type),
                KeyValue.of(DESTINATION, delivery.subscription().queue()));
    }

    /** Awspring's context holds the message, and the message its delivery. */
    private static Optional<Delivery> delivery(Observation.Context context) {
        return context instanceof ReceiverContext<?> received && received.getCarrier() instanceof Message<?> message
                ? ReceivedMessage.of(message).map(ReceivedMessage::delivery)
                : Optional.empty();
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
        return delivery(context).isPresent();
    }

    @Override
    public String getName() {
        return PROCESS_DURATION;
    }

    @Override
    public String getContextualName(ReceiverContext<?> context) {
        return delivery(context)
                .map(delivery ->
                        Operation.PROCESS.type + " " + delivery.subscription().queue())
                .orElse(Operation.PROCESS.type);
    }

    /** Always with an {@code error.type}: meters of one name have the same tags. */
    @Override
    public KeyValues getLowCardinalityKeyValues(ReceiverContext<?> context) {
        Throwable error = context.getError();
        return delivery(context)
                .map(delivery -> describe(Operation.PROCESS, delivery))
                .orElseGet(KeyValues::empty)
                .and(
                        ERROR_TYPE,
                        error == null ? KeyValue.NONE_VALUE : error.getClass().getName());
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(ReceiverContext<?> context) {
        return delivery(context)
                .map(delivery -> KeyValues.of(MESSAGE_ID, delivery.messageId()))
                .orElseGet(KeyValues::empty);
    }
}
