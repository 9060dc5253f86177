package io.exactlyonce.kotlin

import io.exactlyonce.ExactlyOnceListener
import io.exactlyonce.ExactlyOnceSetupException
import io.exactlyonce.test.kit.AutoConfigureExactlyOnceDriver
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.junit.jupiter.api.Test
import org.springframework.boot.WebApplicationType
import org.springframework.boot.autoconfigure.EnableAutoConfiguration
import org.springframework.boot.builder.SpringApplicationBuilder
import org.springframework.context.annotation.Configuration
import org.springframework.context.annotation.Import

open class SuspendingShop {

    @ExactlyOnceListener(queueNames = ["orders"], key = "#order.orderId")
    open suspend fun sell(order: Order): String = order.orderId
}

/** A suspending function is no method that Spring's messaging could call and wait for. */
class SuspendingListenerTests {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(SuspendingShop::class)
    @AutoConfigureExactlyOnceDriver
    open class Application

    @Test
    fun suspendingFunctionIsRefused() {
        val application = SpringApplicationBuilder(Application::class.java)
            .web(WebApplicationType.NONE)
            .properties("exactly-once.audit.mode=off", "spring.datasource.url=jdbc:postgresql://127.0.0.1:1/none")

        assertThatThrownBy { application.run() }
            .isInstanceOf(ExactlyOnceSetupException::class.java)
            .hasMessageContaining("is a suspending function")
    }
}
