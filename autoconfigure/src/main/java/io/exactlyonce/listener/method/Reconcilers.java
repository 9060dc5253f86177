package io.exactlyonce.listener.method;

import io.exactlyonce.Reconciler;
import java.lang.reflect.Method;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;

/** Finds the reconcilers that listeners ask for. */
public final class Reconcilers {

    private final BeanFactory beans;

    public Reconcilers(BeanFactory beans) {
        this.beans = beans;
    }

    /**
     * Finds a reconciler.
     *
     * @param name of the bean; blank for the only or primary one
     * @throws InvalidListenerException if there is none, or if there are several to choose from
     */
    Reconciler find(String name, Method method) {
        try {
            return name.isBlank() ? beans.getBean(Reconciler.class) : beans.getBean(name, Reconciler.class);
        } catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException absent) {
            throw new InvalidListenerException(
                    method,
                    "onAbandoned = RECONCILE needs a bean of type %s: %s"
                            .formatted(Reconciler.class.getName(), absent.getMessage()),
                    "define one; if there are several, mark one as @Primary or name it in the attribute reconciler");
        }
    }
}
