package io.exactlyonce.kotlin

import io.exactlyonce.BatchResult
import io.exactlyonce.Claim
import io.exactlyonce.ExactlyOnceException
import io.exactlyonce.ExactlyOnceListener
import io.exactlyonce.ExactlyOnceOperations
import io.exactlyonce.InDoubtPolicy
import io.exactlyonce.MissingKeyPolicy
import io.exactlyonce.ParkedKeys
import io.exactlyonce.Reconciler
import io.exactlyonce.Reconciliation
import io.exactlyonce.test.kit.CrashPoint
import io.exactlyonce.test.kit.ExactlyOnceDriver
import io.exactlyonce.test.kit.ExactlyOnceTest
import io.exactlyonce.test.kit.Outcome
import io.exactlyonce.test.kit.TestMessage
import java.io.IOException
import java.util.concurrent.CompletableFuture
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.future.future
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.catchThrowableOfType
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.context.annotation.Bean
import org.springframework.context.annotation.Configuration
import org.springframework.context.annotation.Import
import org.springframework.core.ParameterizedTypeReference
import org.springframework.stereotype.Component
import org.springframework.test.context.TestPropertySource

data class Purchase(val orderId: String, val isbn: String)

data class Copies(val isbn: String, val count: Int)

data class StockChanged(val eventId: String?)

data class Charge(val chargeId: String)

class CardExpired : RuntimeException("expired")

class CarrierException(message: String) : IOException(message)

/** The external systems that the shop calls. */
@Component
class Partners {

    var refused: Set<String> = emptySet()
    var expired: Boolean = false
    val booked = mutableListOf<String>()
    val charges = mutableMapOf<String, Charge>()
    var quotes = 0

    fun book(orderId: String, downstreamKey: String) {
        if (orderId in refused) throw CarrierException("no van")
        booked += "$orderId $downstreamKey"
    }

    fun charge(downstreamKey: String): Charge {
        if (expired) throw CardExpired()
        return charges.getOrPut(downstreamKey) { Charge("c${charges.size + 1}") }
    }

    fun find(downstreamKey: String): Charge? = charges[downstreamKey]

    @Throws(IOException::class)
    fun quote(isbn: String): List<Copies> {
        quotes++
        return listOf(Copies(isbn, 2))
    }
}

/** The class is open because of Kotlin's plugin for Spring. */
@Component
class Bookshop(private val partners: Partners) {

    private val scope = CoroutineScope(Dispatchers.Default)

    @ExactlyOnceListener(id = "shipping", queueNames = ["shipments"], key = "#payload.orderId")
    fun ship(orders: List<Purchase>, claims: List<Claim>): BatchResult {
        var result = BatchResult.allSucceeded()
        orders.forEachIndexed { index, order ->
            try {
                partners.book(order.orderId, claims[index].downstreamKey())
            } catch (failure: CarrierException) {
                result = result.andFailed(index, failure)
            }
        }
        return result
    }

    @ExactlyOnceListener(
        id = "payments",
        queueNames = ["\${shop.payments}"],
        key = "#order.orderId",
        whenInDoubt = InDoubtPolicy.RECONCILE,
        parkFor = [CardExpired::class],
    )
    fun charge(order: Purchase, claim: Claim): Charge = partners.charge(claim.downstreamKey())

    @ExactlyOnceListener(
        id = "stock",
        queueNames = ["stock"],
        key = "#event.eventId",
        whenKeyMissing = MissingKeyPolicy.SKIP,
    )
    fun count(event: StockChanged) {
        partners.quote(event.eventId ?: "unknown")
    }

    @ExactlyOnceListener(id = "mails", queueNames = ["mails"], key = "#order.orderId")
    fun mail(order: Purchase, claim: Claim): CompletableFuture<String> = scope.future {
        yield()
        partners.book(order.orderId, claim.downstreamKey("mail"))
        "sent"
    }
}

/** A shop as a reader would write it who knows only the user pages. */
@ExactlyOnceTest
@TestPropertySource(properties = ["shop.payments=payments"])
class BookshopTests @Autowired constructor(
    private val driver: ExactlyOnceDriver,
    private val operations: ExactlyOnceOperations,
    private val parked: ParkedKeys,
    private val partners: Partners,
) {

    @Configuration(proxyBeanMethods = false)
    @Import(Partners::class, Bookshop::class)
    class Application {

        @Bean
        fun charges(partners: Partners): Reconciler<Charge> = Reconciler { attempt ->
            partners.find(attempt.claim().downstreamKey())?.let { Reconciliation.done(it) } ?: Reconciliation.runAgain()
        }
    }

    @BeforeEach
    fun forget() {
        partners.refused = emptySet()
        partners.expired = false
        partners.booked.clear()
        partners.charges.clear()
        partners.quotes = 0
    }

    private fun order(orderId: String, queue: String) = TestMessage.ofPayload(Purchase(orderId, "i")).to(queue)

    @Test
    fun orderThatTheCarrierRefusesIsRedeliveredAlone() {
        partners.refused = setOf("A-1")

        val batch = driver.deliverTogether(order("A-1", "shipments"), order("A-2", "shipments"))

        assertThat(batch[0]).wasReturned()
        assertThat(batch[1]).wasHandled()
        partners.refused = emptySet()
        assertThat(driver.redeliver(batch[0])).wasHandled().wasAttempt(2)
    }

    @Test
    fun chargeThatTheProviderHasMadeIsNotRepeated() {
        val first = driver.deliver(order("A-1", "payments").crashAt(CrashPoint.AFTER_HANDLER))

        assertThat(driver.redeliver(first)).isDeleted().didNotReachItsHandler()
        assertThat(operations.once("payments", "A-1").call(Charge::class.java) { Charge("c2") }).isEqualTo(Charge("c1"))
    }

    @Test
    fun chargeThatTheProviderDoesNotKnowIsMadeAgain() {
        val first = driver.deliver(order("A-1", "payments").crashAt(CrashPoint.BEFORE_HANDLER))

        assertThat(driver.redeliver(first)).wasHandled()
        assertThat(partners.charges).hasSize(1)
    }

    @Test
    fun quoteIsAskedForOnceAndReadBackAsCopies() {
        val quote = {
            operations.once("quotes", "A-1").call(object : ParameterizedTypeReference<List<Copies>>() {}) { partners.quote("i") }
        }

        assertThat(quote()).containsExactly(Copies("i", 2))
        assertThat(quote()).containsExactly(Copies("i", 2))
        assertThat(partners.quotes).isEqualTo(1)
    }

    @Test
    fun expiredCardsAreDecidedTogether() {
        partners.expired = true
        val first = driver.deliver(order("A-1", "payments"))
        driver.deliver(order("A-2", "payments"))
        assertThat(first).isParked()

        val seen = parked.list(1_000)
        val undecided = parked.releaseAll(seen.take(1)) + parked.completeAll(seen.drop(1))

        assertThat(seen).hasSize(2)
        assertThat(undecided).isEmpty()
        assertThat(parked.list(1_000)).isEmpty()
    }

    @Test
    fun expiredCardIsDecidedAlone() {
        partners.expired = true
        driver.deliver(order("A-1", "payments"))
        driver.deliver(order("A-2", "payments"))

        val refused = catchThrowableOfType(ExactlyOnceException::class.java) {
            operations.once("payments", "A-1").call(Charge::class.java) { Charge("c9") }
        }
        assertThat(refused.scope()).isEqualTo("payments")
        val first = parked.find("payments", "A-1").orElseThrow()
        assertThat(refused.keyHash()).hasSize(16)
        assertThat(parked.complete(first, Charge("by hand"))).isTrue()
        assertThat(parked.complete(first)).isFalse()
        assertThat(operations.once("payments", "A-1").call(Charge::class.java) { Charge("c9") }).isEqualTo(Charge("by hand"))
        assertThat(parked.release(parked.find("payments", "A-2").orElseThrow())).isTrue()
    }

    @Test
    fun eventWithoutAKeyIsSkipped() {
        assertThat(driver.deliver(TestMessage.ofBody("""{"ping":true}""").to("stock"))).isDeleted().didNotReachItsHandler()
        assertThat(driver.deliver(TestMessage.ofPayload(StockChanged("E-1")).to("stock"))).wasHandled()
    }

    @Test
    fun coroutineIsAwaited() {
        val first = driver.deliver(order("A-1", "mails"))

        assertThat(first.outcome()).isEqualTo(Outcome.HANDLED)
        assertThat(partners.booked).hasSize(1)
    }
}
