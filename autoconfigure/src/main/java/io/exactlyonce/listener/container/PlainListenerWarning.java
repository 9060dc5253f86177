package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.AbstractMessageListenerContainer;
import io.awspring.cloud.sqs.listener.MessageListenerContainerRegistry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;

/**
 * Warns at start-up of containers that do not claim keys and read a queue of one that does: SQS gives each of them a share of
 * the messages, and the redelivery of what one has handled to the other. What other applications read is not seen.
 */
public final class PlainListenerWarning implements ApplicationListener<ContextRefreshedEvent> {

    private static final Logger log = LoggerFactory.getLogger(PlainListenerWarning.class);

    private final ListableBeanFactory beans;

    /** @param beans where containers are, and the registry of annotated methods' containers */
    public PlainListenerWarning(ListableBeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public void onApplicationEvent(ContextRefreshedEvent refreshed) {
        List<AbstractMessageListenerContainer<?, ?, ?>> containers = containers();
        Map<String, String> claiming = new HashMap<>();
        containers.stream()
                .filter(PlainListenerWarning::claims)
                .forEach(container -> container
                        .getQueueNames()
                        .forEach(queue -> claiming.putIfAbsent(ScopeConflicts.name(queue), container.getId())));
        containers.stream()
                .filter(container -> !claims(container))
                .forEach(plain ->
                        plain.getQueueNames().forEach(queue -> warn(plain, ScopeConflicts.name(queue), claiming)));
    }

    private static void warn(
            AbstractMessageListenerContainer<?, ?, ?> plain, String queue, Map<String, String> claiming) {
        String listener = claiming.get(queue);
        if (listener != null) {
            log.warn(
                    "Listener '{}' on queue '{}' claims no keys, and listener '{}' does: messages that the former gets are "
                            + "handled unclaimed, perhaps for the second time. Make it an @ExactlyOnceListener that enforces, "
                            + "too, or give each a queue of its own",
                    plain.getId(),
                    queue,
                    listener);
        }
    }

    private List<AbstractMessageListenerContainer<?, ?, ?>> containers() {
        Stream<?> registered = beans.getBeanProvider(MessageListenerContainerRegistry.class).stream()
                .flatMap(registry -> registry.getListenerContainers().stream());
        Stream<?> unregistered =
                beans.getBeansOfType(AbstractMessageListenerContainer.class, false, false).values().stream();
        return Stream.concat(registered, unregistered)
                .filter(AbstractMessageListenerContainer.class::isInstance)
                .<AbstractMessageListenerContainer<?, ?, ?>>map(AbstractMessageListenerContainer.class::cast)
                .distinct()
                .toList();
    }

    private static boolean claims(AbstractMessageListenerContainer<?, ?, ?> container) {
        return container.getContainerComponentFactories().stream().anyMatch(ConsumerComponents.class::isInstance);
    }
}
