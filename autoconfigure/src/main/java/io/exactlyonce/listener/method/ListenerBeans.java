package io.exactlyonce.listener.method;

import io.exactlyonce.Effects;
import io.exactlyonce.Reconciler;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.claim.UnsupportedTransactionException;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.transaction.PlatformTransactionManager;

/** Finds the beans that listeners name: container factories, reconcilers and transaction managers. */
public final class ListenerBeans {

    /** Makes claim transactions of the application's transaction managers. */
    @FunctionalInterface
    public interface ClaimTransactionFactory {

        /**
         * Makes a claim transaction.
         *
         * @param named whether the listener names its manager, so that its handler may use another DataSource than the
         *     application's main one
         * @throws UnsupportedTransactionException if claims cannot be kept in this manager's transactions
         */
        ClaimTransaction create(PlatformTransactionManager manager, boolean named);
    }

    private final BeanFactory beans;
    private final Class<?> preparing;
    private final ClaimTransactionFactory transactions;

    /**
     * @param beans where they are
     * @param preparing type of the container factories that prepare containers for exactly-once handling
     * @param transactions makes claim transactions for handlers whose effects are in the database
     */
    public ListenerBeans(BeanFactory beans, Class<?> preparing, ClaimTransactionFactory transactions) {
        this.beans = beans;
        this.preparing = preparing;
        this.transactions = transactions;
    }

    /** Returns whether a container factory prepares containers for exactly-once handling. */
    boolean isPreparing(String factory) {
        return beans.containsBean(factory) && beans.isTypeMatch(factory, preparing);
    }

    /**
     * Finds a reconciler.
     *
     * @param name of the bean; blank for the only or primary one
     * @throws InvalidListenerException if there is none, or if there are several to choose from
     */
    Reconciler reconciler(String name, Method method) {
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

    /**
     * Returns the transaction in which a handler runs together with its claim; {@code null} if its effects are elsewhere.
     *
     * @param name the transaction manager's bean name; empty for the only or primary one
     * @param advice must not take the handler out of that transaction
     * @throws InvalidListenerException if there is none that can hold claims
     */
    @Nullable ClaimTransaction transaction(Method method, Effects effects, String name, TransactionAdvice advice) {
        if (effects == Effects.EXTERNAL) {
            requireNoManager(method, name);
            return null;
        }
        PlatformTransactionManager manager = manager(method, name);
        advice.requireJoining(beans, manager);
        try {
            return transactions.create(manager, !name.isEmpty());
        } catch (UnsupportedTransactionException unusable) {
            throw new InvalidListenerException(
                    method, "effects = DATABASE, but " + unusable.problem(), unusable.remedy(), unusable);
        }
    }

    private static void requireNoManager(Method method, String name) {
        if (!name.isEmpty()) {
            throw new InvalidListenerException(
                    method,
                    "transactionManager = \"%s\" has no meaning with effects = EXTERNAL, whose claims have transactions of their own"
                            .formatted(name),
                    "leave it out, or set effects = DATABASE");
        }
    }

    private PlatformTransactionManager manager(Method method, String name) {
        try {
            return name.isEmpty()
                    ? beans.getBean(PlatformTransactionManager.class)
                    : beans.getBean(name, PlatformTransactionManager.class);
        } catch (NoUniqueBeanDefinitionException several) {
            throw new InvalidListenerException(
                    method,
                    "effects = DATABASE, but there are several transaction managers and none of them is primary: "
                            + several.getBeanNamesFound(),
                    "name the one whose DataSource the handler writes to: transactionManager = \"...\"",
                    several);
        } catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException none) {
            throw new InvalidListenerException(
                    method,
                    name.isEmpty()
                            ? "effects = DATABASE, but there is no PlatformTransactionManager"
                            : "effects = DATABASE, but there is no transaction manager '%s'".formatted(name),
                    "let Spring Boot configure one for spring.datasource.url, or declare a JdbcTransactionManager",
                    none);
        }
    }
}
