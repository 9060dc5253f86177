package io.exactlyonce.listener.method;

import io.exactlyonce.Effects;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.claim.UnsupportedTransactionException;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.transaction.PlatformTransactionManager;

/** Finds the transactions in which handlers run together with their claims, and refuses handlers that would leave them. */
public final class HandlerTransactions {

    private final BeanFactory beans;
    private final ClaimTransactionFactory transactions;

    public HandlerTransactions(BeanFactory beans, ClaimTransactionFactory transactions) {
        this.beans = beans;
        this.transactions = transactions;
    }

    /**
     * Returns the method's transaction; {@code null} if its effects are elsewhere.
     *
     * @param name the transaction manager's bean name; empty for the only or primary one
     * @throws InvalidListenerException if there is none that can hold claims
     */
    @Nullable ClaimTransaction find(Method method, Effects effects, String name, TransactionAdvice advice) {
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
