package io.exactlyonce.listener.startup;

import io.awspring.cloud.sqs.listener.AbstractMessageListenerContainer;
import io.awspring.cloud.sqs.listener.MessageListenerContainer;
import io.awspring.cloud.sqs.listener.MessageListenerContainerRegistry;
import io.exactlyonce.queue.QueueAddress;
import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;

/**
 * Logs at WARN at startup if two listeners share a queue, but only one of them claims keys. After the listener with
 * claims has handled a message, SQS may redeliver the message to the listener without claims. The message is then
 * handled twice. Listeners of other applications are not detected.
 */
public final class PlainListeners implements ApplicationListener<ContextRefreshedEvent> {

    private static final Logger log = LoggerFactory.getLogger(PlainListeners.class);

    private final ListenerRegistry listeners;

    /** @param listeners all exactly-once listeners, including observed ones */
    public PlainListeners(ListenerRegistry listeners) {
        this.listeners = listeners;
    }

    /**
     * Compares the listeners when their containers exist. Events of child contexts are ignored, because the containers
     * may not exist yet at that time.
     */
    @Override
    public void onApplicationEvent(ContextRefreshedEvent refreshed) {
        ApplicationContext beans = refreshed.getApplicationContext();
        if (!beans.getBeansOfType(PlainListeners.class, false, false).containsValue(this)) {
            return;
        }
        for (MessageListenerContainer<?> container : containers(beans)) {
            if (container instanceof AbstractMessageListenerContainer<?, ?, ?> made && !claims(made.getId())) {
                made.getQueueNames().forEach(queue -> warn(made.getId(), queue));
            }
        }
    }

    private static Set<MessageListenerContainer<?>> containers(ApplicationContext beans) {
        Set<MessageListenerContainer<?>> containers = new HashSet<>();
        beans.getBeansOfType(MessageListenerContainer.class, false, false)
                .values()
                .forEach(containers::add);
        beans.getBeanProvider(MessageListenerContainerRegistry.class)
                .forEach(registry -> containers.addAll(registry.getListenerContainers()));
        return containers;
    }

    private boolean claims(String id) {
        return listeners.first(known -> known.claims() && known.id().equals(id)).isPresent();
    }

    private void warn(String plain, String queue) {
        QueueAddress address = QueueAddress.configured(queue);
        listeners
                .first(known -> known.claims() && !known.address().differsFrom(address))
                .ifPresent(claiming -> log.warn(
                        "Listener '{}' on queue '{}' claims no keys, but listener '{}' on queue '{}' does: if they are one "
                                + "queue, messages of the first are handled without a claim, perhaps for the second time. "
                                + "Make it an enforcing @ExactlyOnceListener, or give each its own queue; name queues of "
                                + "several regions, accounts or servers by their URLs",
                        plain,
                        queue,
                        claiming.id(),
                        claiming.place()));
    }
}
