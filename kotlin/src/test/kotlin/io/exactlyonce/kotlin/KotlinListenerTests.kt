package io.exactlyonce.kotlin

import io.exactlyonce.Claim
import io.exactlyonce.ExactlyOnceListener
import io.exactlyonce.FollowUp
import io.exactlyonce.test.kit.ExactlyOnceDriver
import io.exactlyonce.test.kit.ExactlyOnceTest
import io.exactlyonce.test.kit.Outcome
import io.exactlyonce.test.kit.TestMessage
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CopyOnWriteArrayList
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.future.future
import kotlinx.coroutines.yield
import org.aspectj.lang.ProceedingJoinPoint
import org.aspectj.lang.annotation.Around
import org.aspectj.lang.annotation.Aspect
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.context.annotation.Configuration
import org.springframework.context.annotation.Import

data class Order(val orderId: String, val cents: Int = 100)

@JvmInline
value class ParcelId(val value: String)

data class Parcel(val parcelId: ParcelId, val customer: Customer)

/** An ordinary class around an identifier, which is not a value class. */
data class Customer(val number: String)

/** The class is open because Spring proxies it. Kotlin's Spring plugin opens only components. */
open class Shop {

    private val scope = CoroutineScope(Dispatchers.Default)
    private val sold = CopyOnWriteArrayList<String>()

    open fun sold(): List<String> = sold

    @ExactlyOnceListener(
        queueNames = ["orders"],
        key = "#order.orderId",
        fingerprint = "{#order.orderId, #order.cents}",
    )
    open fun sell(order: Order, claim: Claim): String {
        sold += "${order.orderId} for ${order.cents} at attempt ${claim.attempt()}"
        return "receipt"
    }

    @ExactlyOnceListener(queueNames = ["parcels"], key = "#parcel.parcelId + '/' + #parcel.customer.number")
    open fun send(parcel: Parcel, claim: Claim) {
        sold += claim.key()
        val headers: Map<String, Any> = claim.followUp("sent").headers()
        sold += "sent ${headers.getValue(FollowUp.KEY_ATTRIBUTE)}"
    }

    @ExactlyOnceListener(queueNames = ["second-calls"], key = "#order.orderId")
    open fun sellAtSecondCall(order: Order, claim: Claim) {
        sold += "${order.orderId} at attempt ${claim.attempt()}"
        check(sold.count { it.startsWith(order.orderId) } > 1) { "the carrier does not answer" }
    }

    @ExactlyOnceListener(queueNames = ["coroutines"], key = "#order.orderId")
    open fun sellSoon(order: Order): CompletableFuture<String> = scope.future {
        yield()
        sold += order.orderId
        "receipt"
    }
}

/** Calls a handler again after its first failure, as an application's own aspect may. */
@Aspect
open class Again {

    @Around("execution(* io.exactlyonce.kotlin.Shop.sellAtSecondCall(..))")
    open fun again(point: ProceedingJoinPoint): Any? = try {
        point.proceed()
    } catch (failure: IllegalStateException) {
        point.proceed()
    }
}

/** Handlers in Kotlin, whose payloads are data classes. */
@ExactlyOnceTest
class KotlinListenerTests @Autowired constructor(private val driver: ExactlyOnceDriver, private val shop: Shop) {

    @Configuration(proxyBeanMethods = false)
    @Import(Shop::class, Again::class)
    open class Application

    @Test
    fun dataClassIsReadAndHandledOnce() {
        val first = driver.deliver(TestMessage.ofBody("""{"orderId":"A-1"}""").to("orders"))

        assertThat(first.outcome()).isEqualTo(Outcome.HANDLED)
        assertThat(driver.redeliver(first).outcome()).isEqualTo(Outcome.SUPPRESSED)
        val again = driver.deliver(TestMessage.ofBody("""{"orderId":"A-1","sentAt":2}""").to("orders"))
        assertThat(again.outcome()).isEqualTo(Outcome.SUPPRESSED)
        assertThat(shop.sold().filter { it.startsWith("A-1") }).containsExactly("A-1 for 100 at attempt 1")
    }

    @Test
    fun valueClassIsAKey() {
        val parcel = """{"parcelId":"P-1","customer":{"number":"C-1"}}"""

        assertThat(driver.deliver(TestMessage.ofBody(parcel).to("parcels")).outcome()).isEqualTo(Outcome.HANDLED)
        assertThat(driver.deliver(TestMessage.ofBody(parcel).to("parcels")).outcome()).isEqualTo(Outcome.SUPPRESSED)
        assertThat(shop.sold()).contains("P-1/C-1")
        assertThat(shop.sold().filter { it.startsWith("sent ") }).singleElement().asString().matches("sent [0-9a-f]{64}")
    }

    @Test
    fun coroutineThatIsAFutureIsHandledOnce() {
        val first = driver.deliver(TestMessage.ofPayload(Order("A-2")).to("coroutines"))

        assertThat(first.outcome()).isEqualTo(Outcome.HANDLED)
        assertThat(driver.redeliver(first).outcome()).isEqualTo(Outcome.SUPPRESSED)
        assertThat(shop.sold().filter { it == "A-2" }).hasSize(1)
    }

    @Test
    fun aspectRepeatsAHandlerWithinItsClaim() {
        val first = driver.deliver(TestMessage.ofPayload(Order("A-3")).to("second-calls"))

        assertThat(first.outcome()).isEqualTo(Outcome.HANDLED)
        assertThat(driver.redeliver(first).outcome()).isEqualTo(Outcome.SUPPRESSED)
        assertThat(shop.sold().filter { it.startsWith("A-3") }).containsExactly("A-3 at attempt 1", "A-3 at attempt 1")
    }
}
