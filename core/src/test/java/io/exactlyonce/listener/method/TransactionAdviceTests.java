package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;

import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.claim.UnsupportedTransactionException;
import io.exactlyonce.delivery.TestResults;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionInterceptor;

/** Which handlers may write in the transaction of their claim. */
class TransactionAdviceTests {

    static class Listeners {

        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void plain(String order) {}

        @Transactional
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void required(String order) {}

        @Transactional(propagation = Propagation.MANDATORY)
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void mandatory(String order) {}

        @Transactional("first")
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE, transactionManager = "first")
        void sameManager(String order) {}

        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE, transactionManager = "second")
        void named(String order) {}

        @Transactional(propagation = Propagation.REQUIRES_NEW)
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void requiresNew(String order) {}

        @Transactional(isolation = Isolation.SERIALIZABLE)
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void serializable(String order) {}

        @Transactional(readOnly = true)
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void readOnly(String order) {}

        @Transactional("second")
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE, transactionManager = "first")
        void otherManager(String order) {}

        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE, transactionManager = "third")
        void missingManager(String order) {}

        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE, transactionManager = "noManager")
        void wrongType(String order) {}

        @Transactional(propagation = Propagation.REQUIRES_NEW)
        @ExactlyOnceListener(queueNames = "orders")
        void externalRequiresNew(String order) {}

        @ExactlyOnceListener(queueNames = "orders", transactionManager = "first")
        void externalWithManager(String order) {}
    }

    private final PlatformTransactionManager first = mock();
    private final PlatformTransactionManager second = mock();
    private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
    private final List<String> created = new ArrayList<>();

    {
        beans.registerSingleton(ExactlyOnceListener.CONTAINER_FACTORY, new ListenerRig.PreparingFactory());
    }

    private final ClaimTransaction transaction = (request, work) -> {
        throw new AssertionError("no message came");
    };

    private ListenerMethod read(String method) {
        return read(method, false);
    }

    private ListenerMethod read(String method, boolean transactionOutside) {
        ProxyFactory proxies = new ProxyFactory(new Listeners());
        proxies.setProxyTargetClass(true);
        var claiming = ListenerRig.advisor();
        var transactional = new DefaultPointcutAdvisor(new TransactionInterceptor(
                (TransactionManager) first, new AnnotationTransactionAttributeSource(false)));
        proxies.addAdvisors(
                transactionOutside ? transactional : claiming, transactionOutside ? claiming : transactional);
        return ListenerRig.read(reader(this::create), proxies.getProxy(), Listeners.class, method);
    }

    private ListenerMethodReader reader(ClaimTransaction.Factory transactions) {
        return new ListenerMethodReader(
                beans, ListenerRig.PreparingFactory.class, ListenerRig.ENFORCED, TestResults.NONE, transactions);
    }

    private ClaimTransaction create(PlatformTransactionManager manager, boolean named) {
        created.add((manager == first ? "first" : "second") + (named ? " named" : ""));
        return transaction;
    }

    /** @param managers those of {@code first} and {@code second} that there are */
    private void managers(String managers) {
        if (managers.contains("first")) {
            beans.registerSingleton("first", first);
        }
        if (managers.contains("second")) {
            beans.registerSingleton("second", second);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "required", "mandatory"})
    void handlerThatJoinsTheOnlyManagersTransactionIsTaken(String method) {
        managers("first");

        read(method);

        assertThat(created).containsExactly("first");
    }

    @Test
    void namedManagerIsTakenAmongSeveral() {
        managers("first second");

        read("sameManager");
        read("named");

        assertThat(created).containsExactly("first named", "second named");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            first        | requiresNew  | propagation REQUIRES_NEW leaves the transaction | use propagation REQUIRED
            first        | serializable | cannot be applied after | set the isolation level on the DataSource
            first        | readOnly     | cannot be applied after | leave them out
            first second | otherManager | its transaction manager 'second' is not the one of the claim | the same one:
            first second | plain        | expected single matching bean but found 2: first,second | name the one
            none         | plain        | needs a bean of type org.springframework.transaction.PlatformTransactionManager | declare a
            first        | missingManager      | named 'third'     | declare a JdbcTransactionManager
            first        | wrongType           | named 'noManager' | declare a JdbcTransactionManager
            first        | externalWithManager | "first" has no meaning with effects = EXTERNAL | leave it out
            """)
    void handlerWithoutItsClaimsTransactionIsRefused(String managers, String method, String problem, String remedy) {
        managers(managers);
        beans.registerSingleton("noManager", "text");

        assertThatThrownBy(() -> read(method)).isInstanceOfSatisfying(InvalidListenerException.class, refused -> {
            assertThat(refused.getMessage()).contains("Listeners." + method, problem);
            assertThat(refused.remedy()).contains(remedy);
        });
        assertThat(created).isEmpty();
    }

    @Test
    void managerThatCannotHoldClaimsIsRefusedWithTheReason() {
        managers("first");
        ListenerMethodReader unusable = reader((manager, named) -> {
            throw new UnsupportedTransactionException("it is another database", "use this one", null);
        });

        assertThatThrownBy(() ->
                        ListenerRig.read(unusable, ListenerRig.advised(new Listeners()), Listeners.class, "plain"))
                .isInstanceOfSatisfying(InvalidListenerException.class, refused -> {
                    assertThat(refused.problem()).contains("Listeners.plain", "it is another database");
                    assertThat(refused.remedy()).isEqualTo("use this one");
                });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void externalEffectsMayHaveTransactionsOfTheirOwn(boolean transactionOutside) {
        read("externalRequiresNew", transactionOutside);

        assertThat(created).isEmpty();
    }

    @Test
    void transactionThatWouldBeginBeforeThatOfTheClaimIsRefused() {
        managers("first");

        assertThatThrownBy(() -> read("required", true))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("is begun before its key is claimed")
                .hasMessageContaining("order above " + ExactlyOnceAdvisor.ORDER);
    }
}
