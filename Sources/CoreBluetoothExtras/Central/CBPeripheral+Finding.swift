import BLEHost
import BLEWire
public import CoreBluetooth
import Foundation

// What a device offers, for tasks. Names differ from those with delegates, so that neither hides the other.
extension CBPeripheral {
    /// Finds services of the given types, or all if there is none given; the delegate hears, too.
    ///
    /// - Throws: `CBError.notConnected` and other errors as the delegate would get them, `CancellationError` if the
    ///   task is cancelled while it waits.
    public func findServices(_ types: [CBUUID]? = nil) async throws -> [CBService] {
        try await answer(
            to: { event -> Result<Void, Failure>? in
                guard case .servicesDiscovered(let result) = event else { return nil }
                return result.map { _ in }
            },
            ask: { discoverServices(types) }
        )
        return (services ?? []).filter { types?.contains($0.uuid) ?? true }
    }

    /// Finds the services that belong to `service`.
    public func findIncludedServices(_ types: [CBUUID]? = nil, of service: CBService) async throws -> [CBService] {
        guard has(service), let range = service.handleRange else { throw CBError(.invalidHandle) }
        try await answer(
            to: { event -> Result<Void, Failure>? in
                guard case .includedServicesDiscovered(in: range, let result) = event else { return nil }
                return result.map { _ in }
            },
            ask: { discoverIncludedServices(types, for: service) }
        )
        return (service.includedServices ?? []).filter { types?.contains($0.uuid) ?? true }
    }

    /// Finds characteristics of `service`.
    public func findCharacteristics(
        _ types: [CBUUID]? = nil,
        of service: CBService
    ) async throws -> [CBCharacteristic] {
        guard has(service), let range = service.handleRange else { throw CBError(.invalidHandle) }
        try await answer(
            to: { event -> Result<Void, Failure>? in
                guard case .characteristicsDiscovered(in: range, let result) = event else { return nil }
                return result.map { _ in }
            },
            ask: { discoverCharacteristics(types, for: service) }
        )
        return (service.characteristics ?? []).filter { types?.contains($0.uuid) ?? true }
    }

    /// Finds the descriptors of `characteristic`.
    public func findDescriptors(of characteristic: CBCharacteristic) async throws -> [CBDescriptor] {
        guard has(characteristic), let handle = characteristic.valueHandle else { throw CBError(.invalidHandle) }
        try await answer(
            to: { event -> Result<Void, Failure>? in
                guard case .descriptorsDiscovered(of: handle, let result) = event else { return nil }
                return result.map { _ in }
            },
            ask: { discoverDescriptors(for: characteristic) }
        )
        return characteristic.descriptors ?? []
    }

    /// Forgets what is known of what the device offers, so that finding it anew asks the device.
    ///
    /// For devices whose services change without their saying so, as while an app for them is being written. What was
    /// found is void then: `services` is `nil`, requests about it fail, notifications are turned off, and the
    /// delegate hears of it by `peripheral(_:didModifyServices:)`. What is kept of a bonded device for its next
    /// connection is forgotten, too. Other apps that are connected to the device keep what they found.
    ///
    /// - Throws: `CBError.notConnected` if there is no connection, or none any more; `CancellationError` if the task is
    ///   cancelled while it waits.
    public func forgetServices() async throws {
        try await answer(
            to: { event -> Result<Void, Failure>? in
                guard case .databaseForgotten(let failure) = event else { return nil }
                return failure.map { .failure($0) } ?? .success(())
            },
            ask: { forgetDatabase() }
        )
    }

    /// Asks how strong the signal is now, in dBm.
    public func signalStrength() async throws -> Int {
        try await answer(
            to: { event -> Result<Int, Failure>? in
                guard case .rssiRead(let result) = event else { return nil }
                return result.map { Int($0.dBm ?? 127) }
            },
            ask: { readRSSI() }
        )
    }
}
