package io.exactlyonce.autoconfigure;

import io.exactlyonce.operations.CommitListener;
import java.util.ArrayList;
import java.util.List;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;

/** Adds the commit listener to each transaction manager, including managers that Spring Boot does not customize. */
final class CommitListenerPostProcessor implements BeanPostProcessor {

    private final CommitListener listener = new CommitListener();

    /** Adds the listener to a copy of the manager's list, because the manager's own list may be immutable. */
    @Override
    public Object postProcessBeforeInitialization(Object bean, String beanName) {
        if (bean instanceof ConfigurableTransactionManager manager) {
            List<TransactionExecutionListener> listeners = new ArrayList<>(manager.getTransactionExecutionListeners());
            listeners.add(listener);
            manager.setTransactionExecutionListeners(listeners);
        }
        return bean;
    }
}
