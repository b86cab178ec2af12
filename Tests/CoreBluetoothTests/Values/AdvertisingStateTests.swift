import BLEHost
import Testing

@testable import CoreBluetooth

@Suite("Advertising state")
struct AdvertisingStateTests {
    let request = AdvertisingRequest(localName: "A")
    let other = AdvertisingRequest(localName: "B")

    @Test("Advertising is on from the host's confirmation until it is stopped")
    func course() {
        var state = AdvertisingState()
        #expect(state.start(request) == .send)
        #expect(!state.isAdvertising)
        #expect(state.start(other) == .alreadyAdvertising)
        #expect(state.answered(success: true) == .callDelegate)
        #expect(state.isAdvertising)
        #expect(state.start(other) == .alreadyAdvertising)
        #expect(state.stop() == .send)
        #expect(!state.isAdvertising)
        #expect(state.stop() == .nothing)
    }

    @Test("Advertising is off if the host refuses")
    func refusal() {
        var state = AdvertisingState()
        _ = state.start(request)
        #expect(state.answered(success: false) == .callDelegate)
        #expect(!state.isAdvertising)
        #expect(state.start(request) == .send)
    }

    @Test("The last of several responses decides")
    func overtaken() {
        var state = AdvertisingState()
        _ = state.start(request)
        _ = state.stop()
        #expect(state.start(other) == .send)
        #expect(state.answered(success: true) == .callDelegate)
        #expect(!state.isAdvertising)
        #expect(state.answered(success: false) == .callDelegate)
        #expect(!state.isAdvertising)
        #expect(state.answered(success: true) == .nothing)
    }

    @Test("Responses are matched with the app's requests, and not with those that the manager repeats")
    func numbered() {
        var state = AdvertisingState()
        let reserved = state.reserveNumber()
        _ = state.start(request)
        _ = state.stop()
        _ = state.start(other, as: reserved)
        _ = state.answered(success: false)
        #expect(state.answeredNumber == reserved + 1)
        _ = state.answered(success: true)
        #expect(state.answeredNumber == reserved)
        state.radioLost()
        _ = state.radioReturned()
        _ = state.answered(success: true)
        #expect(state.answeredNumber == nil)
    }

    @Test("Advertising stays off if the host refuses a request made before the app knew of the radio's loss")
    func refusedWithoutRadio() {
        var state = AdvertisingState()
        _ = state.start(request)
        state.radioLost()
        #expect(state.answered(success: false) == .callDelegate)
        #expect(state.radioReturned() == nil)
        #expect(state.start(other) == .send)
        _ = state.answered(success: true)
        state.radioLost()
        #expect(state.radioReturned() == other)
        state.radioLost()
        #expect(state.answered(success: false) == .nothing)
        #expect(state.radioReturned() == other)
    }

    @Test("Advertising pauses while there is no radio, and resumes without the app")
    func pause() {
        var state = AdvertisingState()
        _ = state.start(request)
        _ = state.answered(success: true)
        state.radioLost()
        #expect(!state.isAdvertising)
        #expect(state.radioReturned() == request)
        #expect(state.answered(success: true) == .nothing)
        #expect(state.isAdvertising)
        state.radioLost()
        #expect(state.stop() == .nothing)
        #expect(state.radioReturned() == nil)
    }

    @Test("The response to a request counts although an earlier one was lost with its host")
    func lostHost() {
        var state = AdvertisingState()
        _ = state.start(request)
        state.radioLost()
        _ = state.stop()
        state.forgetUnansweredStarts()
        #expect(state.answered(success: true) == .nothing)
        #expect(state.start(other) == .send)
        #expect(state.answered(success: true) == .callDelegate)
        #expect(state.isAdvertising)
    }
}
