package io.exactlyonce.kotlin

import io.exactlyonce.ExactlyOnceListener
import io.exactlyonce.ExactlyOnceSetupException
import io.exactlyonce.test.kit.AutoConfigureExactlyOnceDriver
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.async
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.launch
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.junit.jupiter.api.Test
import org.springframework.boot.WebApplicationType
import org.springframework.boot.autoconfigure.EnableAutoConfiguration
import org.springframework.boot.builder.SpringApplicationBuilder
import org.springframework.context.annotation.Configuration

open class SuspendingShop {

    @ExactlyOnceListener(queueNames = ["orders"], key = "#order.orderId")
    open suspend fun sell(order: Order): String = order.orderId
}

open class DeferringShop {

    private val scope = CoroutineScope(Dispatchers.Default)

    @ExactlyOnceListener(queueNames = ["orders"], key = "#order.orderId")
    open fun sell(order: Order): Deferred<String> = scope.async { order.orderId }
}

open class LaunchingShop {

    private val scope = CoroutineScope(Dispatchers.Default)

    @ExactlyOnceListener(queueNames = ["orders"], key = "#order.orderId")
    open fun sell(order: Order): List<Job> = listOf(scope.launch { order.orderId })
}

open class FlowingShop {

    @ExactlyOnceListener(queueNames = ["orders"], key = "#order.orderId")
    open fun sell(order: Order): Flow<String> = flowOf(order.orderId)
}

data class Booking(val id: String, val done: Deferred<Unit>)

open class BookingShop {

    @ExactlyOnceListener(queueNames = ["orders"], key = "#order.orderId")
    open fun sell(order: Order): Booking = Booking(order.orderId, CompletableDeferred(Unit))
}

/** Spring's messaging cannot call a suspending function and wait for it, and the end of a coroutine is unknown. */
class SuspendingListenerTests {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @AutoConfigureExactlyOnceDriver
    open class Application

    private fun assertRefused(shop: Class<*>, problem: String) {
        val application = SpringApplicationBuilder(Application::class.java, shop)
            .web(WebApplicationType.NONE)
            .properties("exactly-once.audit.mode=off", "spring.datasource.url=jdbc:postgresql://127.0.0.1:1/none")

        assertThatThrownBy { application.run() }
            .isInstanceOfSatisfying(ExactlyOnceSetupException::class.java) {
                assertThat(it.remedy()).contains("scope.future { ... }")
            }
            .hasMessageContaining(problem)
    }

    @Test
    fun suspendingFunctionIsRefused() {
        assertRefused(SuspendingShop::class.java, "is a suspending function")
    }

    @Test
    fun coroutineIsRefusedAlsoWithinAnotherType() {
        assertRefused(DeferringShop::class.java, "it returns kotlinx.coroutines.Deferred<java.lang.String>")
        assertRefused(LaunchingShop::class.java, "and in it kotlinx.coroutines.Job")
        assertRefused(FlowingShop::class.java, "it returns kotlinx.coroutines.flow.Flow<java.lang.String>")
        assertRefused(BookingShop::class.java, "and in it kotlinx.coroutines.Deferred")
    }
}
