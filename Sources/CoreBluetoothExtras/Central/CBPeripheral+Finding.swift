import BLEHost
import BLEWire
public import CoreBluetooth
import Foundation

// Discovery with `async` methods. Their names differ from those of the methods that call delegates, so that the
// compiler does not confuse the two.
extension CBPeripheral {
    /// Discovers the services of the given types, or all services if `types` is `nil`.
    ///
    /// The delegate is called as well.
    ///
    /// - Throws: `CBError.notConnected` and other errors that the delegate would receive, `CancellationError` if the
    ///   task is cancelled.
    public func findServices(_ types: [CBUUID]? = nil) async throws -> [CBService] {
        try await answer(
            to: { event -> Result<Void, Failure>? in
                guard case .servicesDiscovered(let result) = event else { return nil }
                return result.map { _ in }
            },
            ask: { serviceDiscovery(types) }
        )
        return (services ?? []).filter { types?.contains($0.uuid) ?? true }
    }

    /// Discovers the services that `service` includes: those of the given types, or all if `types` is `nil`.
    public func findIncludedServices(_ types: [CBUUID]? = nil, of service: CBService) async throws -> [CBService] {
        try await answer(
            to: { event -> Result<Void, Failure>? in
                guard case .includedServicesDiscovered(_, let result) = event else { return nil }
                return result.map { _ in }
            },
            ask: { includedServiceDiscovery(types, in: service) }
        )
        return (service.includedServices ?? []).filter { types?.contains($0.uuid) ?? true }
    }

    /// Discovers the characteristics of `service`: those of the given types, or all if `types` is `nil`.
    public func findCharacteristics(
        _ types: [CBUUID]? = nil,
        of service: CBService
    ) async throws -> [CBCharacteristic] {
        try await answer(
            to: { event -> Result<Void, Failure>? in
                guard case .characteristicsDiscovered(_, let result) = event else { return nil }
                return result.map { _ in }
            },
            ask: { characteristicDiscovery(types, in: service) }
        )
        return (service.characteristics ?? []).filter { types?.contains($0.uuid) ?? true }
    }

    /// Discovers the descriptors of `characteristic`.
    public func findDescriptors(of characteristic: CBCharacteristic) async throws -> [CBDescriptor] {
        try await answer(
            to: { event -> Result<Void, Failure>? in
                guard case .descriptorsDiscovered(_, let result) = event else { return nil }
                return result.map { _ in }
            },
            ask: { descriptorDiscovery(of: characteristic) }
        )
        return characteristic.descriptors ?? []
    }

    /// Drops everything known about the device's services, so that the next discovery asks the device.
    ///
    /// This is for devices that change their services without notice, as during development. `services` becomes `nil`,
    /// requests about old services fail, notifications end, and the delegate's `peripheral(_:didModifyServices:)` is
    /// called. The stored database of a bonded device is dropped as well. Other apps that are connected to the device
    /// are not affected.
    ///
    /// - Throws: `CBError.notConnected` if there is no connection, or it is lost; `CancellationError` if the task is
    ///   cancelled.
    public func forgetServices() async throws {
        try await answer(
            to: { event -> Result<Void, Failure>? in
                guard case .databaseForgotten(let failure) = event else { return nil }
                return failure.map { .failure($0) } ?? .success(())
            },
            ask: { .valid(.forgetDatabase) }
        )
    }

    /// Reads the current signal strength, in dBm; 127 if it is unknown.
    public func signalStrength() async throws -> Int {
        try await answer(
            to: { event -> Result<Int, Failure>? in
                guard case .rssiRead(let result) = event else { return nil }
                return result.map { Int($0.dBm ?? 127) }
            },
            ask: { .valid(.readRSSI) }
        )
    }
}
